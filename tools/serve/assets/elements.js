// Making elements and saying what happens. Text goes in as text, never as markup.
'use strict';

/** An element with attributes (on... are listeners) and children, elements or text. */
function make(tag, attributes = {}, ...children) {
  const svg = ['svg', 'rect', 'text', 'title'].includes(tag);
  const element = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value !== null) element.setAttribute(name, value);
  }
  for (const child of children) {
    if (child !== null) element.append(child);
  }
  return element;
}

/** To those who hear the page. */
function tell(text) {
  document.getElementById('status').textContent = text;
}

/** To all, over the map: what failed. */
function complain(text) {
  const notice = document.getElementById('notice');
  notice.textContent = text;
  notice.hidden = false;
  clearTimeout(complain.timer);
  complain.timer = setTimeout(() => { notice.hidden = true; }, 10000);
}

const grouped = (number) => number.toLocaleString('en');
