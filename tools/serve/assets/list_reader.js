// Reads somebody's own list in the browser: PMIDs, lines of descriptors, PubMed's XML, .nbib or CSV. Always holds:
// time grows with the text alone and memory with what is kept of it, whatever the text; no pattern here goes back.
'use strict';

const listLimits = {
  articles: 100_000, lines: 10_000, // lines: articles that are to be searched by their descriptors
  letters: 2 ** 28, token: 65_536, headings: 200, heading: 300, step: 2 ** 18, // in letters, but for headings
};

/** A PMID, or 0. */
function pmidOf(text) {
  return /^[0-9]{1,10}$/.test(text) && +text <= 0xFFFFFFFF ? +text : 0;
}

/** Line ends of text from one place to another. */
function linesIn(text, from, to) {
  let count = 0;
  for (let at = text.indexOf('\n', from); at >= 0 && at < to; at = text.indexOf('\n', at + 1)) ++count;
  return count;
}

class ListReader {
  constructor() {
    this.articles = []; // { pmid or 0, line of descriptors or '', from: number of its line, at: those of its descriptors where they have their own }
    this.repeated = 0;
    this.unusable = 0;
    this.firstUnusable = 0; // the number of its line
    this.number = 1; // of the line that is read, from 1
    this.carry = ''; // a line end of which the second half may follow
    this.full = false;
    this.letters = 0;
    this.seen = new Set();
    this.lines = 0;
    this.text = '';
    this.kind = null;
    this.taken = null; // of XML: the text of an element that is wanted
  }

  /** Another piece of the text. Throws where it is no list. */
  push(piece) {
    if (piece.includes('\0')) throw new Error('This is no text: give PMIDs, lines of descriptors, or a file that PubMed saved.');
    this.letters += piece.length;
    if (this.letters > listLimits.letters) this.full = true;
    const text = this.carry + piece;
    this.carry = text.endsWith('\r') ? '\r' : '';
    this.text += text.slice(0, text.length - this.carry.length).replace(/\r\n?/g, '\n');
    this.kind ??= this.guess(false);
    this.go(false);
  }

  end() {
    this.kind ??= this.guess(true);
    this.go(true);
    if (this.kind === 'nbib') this.add(this.now);
    if (this.kind === 'xml' && !this.articles.length && !this.unusable) {
      throw new Error('This XML holds no MedlineCitation: save the list from PubMed in the format “PubMed” or as XML.');
    }
  }

  guess(last) {
    const text = this.text.replace(/^\uFEFF/, '').trimStart();
    this.number += linesIn(this.text, 0, this.text.length - text.length);
    this.text = text;
    const begin = this.text.slice(0, 20);
    if (begin.length < 7 && !last) return null;
    if (begin[0] === '<') return 'xml';
    if (begin.startsWith('PMID- ')) return 'nbib';
    return /^"?PMID"?,/.test(begin) ? 'csv' : 'lines';
  }

  go(last) {
    if (this.full || this.kind === null) return;
    if (this.kind === 'xml') this.readXml();
    else this.readLines(last);
  }

  add(article) {
    if (!article || this.full) return;
    if (this.repeated + this.unusable > 10 * listLimits.articles) this.full = true;
    const line = article.headings ? article.headings.join(';') : article.line ?? '';
    const from = article.from ?? this.number;
    if (!article.pmid && !line) {
      ++this.unusable;
      this.firstUnusable ||= from;
    } else if (article.pmid && this.seen.has(article.pmid)) ++this.repeated;
    else if (this.articles.length === listLimits.articles || (!article.pmid && this.lines === listLimits.lines)) this.full = true;
    else {
      this.articles.push({ pmid: article.pmid ?? 0, line, from, ...(article.at?.length ? { at: article.at } : {}) });
      if (article.pmid) this.seen.add(article.pmid);
      else ++this.lines;
    }
  }

  readLines(last) {
    let at = 0;
    for (let end; (end = this.text.indexOf('\n', at)) >= 0 && !this.full; at = end + 1) {
      this.line(this.text.slice(at, end));
      ++this.number;
    }
    this.text = this.text.slice(at);
    if (this.text.length > listLimits.token && /^[0-9,;\s]*$/.test(this.text)) { // any number of PMIDs may stand in a line
      const whole = Math.max(...[',', ';', ' ', '\t'].map((between) => this.text.lastIndexOf(between)));
      this.line(this.text.slice(0, whole + 1));
      this.text = this.text.slice(whole + 1);
    }
    if (this.text.length > listLimits.token && !this.full) throw new Error('One of its lines is longer than 65,536 letters: this is no list.');
    if (last && !this.full && this.text) this.line(this.text);
  }

  line(raw) {
    if (this.kind === 'lines' && raw.startsWith('PMID- ')) this.kind = 'nbib'; // below PMIDs of its own
    if (this.kind === 'nbib') return this.nbibLine(raw);
    const text = raw.replace(/^\uFEFF/, '').trim();
    if (!text || text[0] === '#') return;
    if (this.kind === 'csv') {
      const pmid = pmidOf(text.slice(0, 14).split(',')[0].replaceAll('"', ''));
      if (pmid) this.add({ pmid });
      return;
    }
    const numbers = /^pmid/i.test(text) ? text.slice(4).replace(/^s?:?/i, '') : text;
    if (!/^[0-9,;\s]*$/.test(numbers)) return this.add({ line: text });
    for (const word of numbers.split(/[,;\s]+/)) {
      if (word) this.add({ pmid: pmidOf(word) });
    }
  }

  // "MH  - Neoplasms/drug therapy*": the heading ends at the stroke; six blanks go on with it.
  nbibLine(raw) {
    const tag = raw.slice(0, 6);
    const text = raw.slice(6).trim();
    if (tag === 'PMID- ') {
      this.add(this.now);
      this.now = { pmid: pmidOf(text), headings: [], at: [], from: this.number };
    } else if (tag === 'MH  - ' && this.now) {
      this.heading(headingOf(text));
    } else if (tag === '      ' && this.tag === 'MH  - ' && this.now?.headings.length) {
      this.heading(`${this.now.headings.pop()} ${headingOf(text)}`, this.now.at.pop());
    }
    if (tag !== '      ') this.tag = tag;
  }

  heading(text, at = this.number) {
    if (this.now.headings.length === listLimits.headings) return;
    this.now.headings.push(text.slice(0, listLimits.heading).replaceAll(';', ','));
    this.now.at.push(at);
  }

  readXml() {
    const { text } = this;
    let at = 0;
    let counted = 0;
    const count = (to) => {
      this.number += linesIn(text, counted, to);
      counted = to;
    };
    while (at < text.length && !this.full) {
      if (this.skipTo) {
        const end = text.indexOf(this.skipTo, at);
        at = end < 0 ? Math.max(at, text.length - 2) : end + 3;
        if (end < 0) break;
        this.skipTo = null;
        continue;
      }
      const open = text.indexOf('<', at);
      const stop = open < 0 ? text.length : open;
      if (this.taken !== null && this.taken.length < 1000) this.taken += text.slice(at, Math.min(stop, at + 1000));
      at = stop;
      if (open < 0 || open + 9 > text.length) break;
      if (text.startsWith('!--', open + 1) || text.startsWith('![CDATA[', open + 1)) {
        this.skipTo = text[open + 2] === '-' ? '-->' : ']]>';
        at = open + 4;
        continue;
      }
      const close = text.indexOf('>', open);
      if (close < 0) break;
      count(open);
      this.element(text.slice(open + 1, close));
      at = close + 1;
    }
    count(at);
    this.text = text.slice(at);
    if (this.text.length > listLimits.token && !this.full) throw new Error('One of its tags is longer than 65,536 letters: this is no XML of PubMed.');
  }

  element(tag) {
    const name = /^\/?[A-Za-z]*/.exec(tag)[0];
    if (name === 'MedlineCitation') this.now = { pmid: null, headings: [], at: [], from: this.number };
    if (!this.now) return;
    if (name === 'PMID' && this.now.pmid === null) {
      this.taken = '';
    } else if (name === '/PMID' && this.now.pmid === null) {
      this.now.pmid = pmidOf(this.taken.trim());
      this.taken = null;
    } else if (name === 'DescriptorName') {
      const ui = /\bUI="(D[0-9]{6,9})"/.exec(tag);
      if (ui) this.heading(ui[1]);
      else this.taken = '';
    } else if (name === '/DescriptorName' && this.taken !== null) {
      this.heading(plainText(this.taken.trim()));
      this.taken = null;
    } else if (name === '/MedlineCitation') {
      this.add(this.now);
      this.now = null;
    }
  }
}

/** "*Neoplasms/drug therapy": without qualifiers and stars. */
function headingOf(text) {
  return text.split('/', 1)[0].replaceAll('*', '').trim();
}

function plainText(text) {
  const signs = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
  return text.replace(/&([a-z]{2,4});/g, (whole, name) => signs[name] ?? whole);
}

// What is unpacked of one piece comes at once, and may be a thousand times as much.
function inSmallPieces(file) {
  let at = 0;
  return new ReadableStream({
    async pull(control) {
      if (at >= file.size) return control.close();
      control.enqueue(new Uint8Array(await file.slice(at, at += 8192).arrayBuffer()));
    },
  }, { highWaterMark: 0 });
}

/** A string or a File to a ListReader that has read it. progress(letters) is told now and then; the page stays awake. */
async function readList(source, signal, progress) {
  const reader = new ListReader();
  let since = 0;
  const push = async (text) => {
    for (let at = 0; at < text.length && !reader.full; at += listLimits.step) {
      const piece = text.slice(at, at + listLimits.step);
      reader.push(piece);
      since += piece.length;
      if (since < listLimits.step) continue;
      since = 0;
      progress(reader.letters);
      await new Promise((awake) => { setTimeout(awake); });
      signal.throwIfAborted();
    }
  };
  if (typeof source === 'string') {
    await push(source);
  } else {
    const [first, second] = new Uint8Array(await source.slice(0, 2).arrayBuffer());
    const packed = first === 0x1F && second === 0x8B;
    const plain = packed ? inSmallPieces(source).pipeThrough(new DecompressionStream('gzip')) : source.stream();
    const pieces = plain.pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (;;) {
        const { done, value } = await pieces.read().catch(() => { throw new Error('The file is damaged: it cannot be read to its end.'); });
        if (done || reader.full) break;
        await push(value);
      }
    } finally {
      pieces.cancel().catch(() => {});
    }
  }
  reader.end();
  return reader;
}
