// Makes what the browser tests look at, in SOMATLAS_BROWSER_FOLDER: `sample` is an atlas of tests/data/sample with its store
// and what export says of it; `hostile` one whose descriptors are named like scripts, and so are their entry words.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { payloads } from './payloads.mjs';

const folder = process.env.SOMATLAS_BROWSER_FOLDER;
const data = path.join(import.meta.url.replace('file://', ''), '../../data/sample');
const somatlas = (...words) => execFileSync(process.env.SOMATLAS_PROGRAM, words, { maxBuffer: 1 << 30 });

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
/** MeSH's descriptor XML of [UI, name, entry words, permuted ones]. */
const descriptorXml = (descriptors) => `<DescriptorRecordSet>${descriptors.map(([ui, name, words, permuted = []]) =>
  `<DescriptorRecord><DescriptorUI>${ui}</DescriptorUI><DescriptorName><String>${escaped(name)}</String></DescriptorName>
  <ConceptList><Concept><TermList>${[...words.map((word) => ['N', word]), ...permuted.map((word) => ['Y', word])].map(([yes, word]) =>
    `<Term IsPermutedTermYN="${yes}"><String>${escaped(word)}</String></Term>`).join('')}</TermList></Concept></ConceptList>
  </DescriptorRecord>`).join('\n')}</DescriptorRecordSet>\n`;

rmSync(folder, { recursive: true, force: true });
const sample = path.join(folder, 'sample');
mkdirSync(sample, { recursive: true });
writeFileSync(`${sample}/words.xml`, descriptorXml([
  ['D006801', 'Humans', ['Homo sapiens', 'Human Being'], ['Being, Human']], ['D008297', 'Male', ['Males, Human Beings']],
]));
somatlas('ingest', '--store', `${sample}/store`, '--mesh', `${sample}/words.xml`, '--mesh', `${data}/descriptors.tsv.gz`,
  `${data}/baseline`, `${data}/updatefiles`);
somatlas('train', '--store', `${sample}/store`, '--atlas', `${sample}/atlas`, '--side', '24');
somatlas('export', '--atlas', `${sample}/atlas`, '--format', 'csv', `${sample}/cells.csv`);
somatlas('export', '--atlas', `${sample}/atlas`, '--format', 'npy', `${sample}/npy`);
somatlas('export', '--atlas', `${sample}/atlas`, '--format', 'html', '--store', `${sample}/store`, '--planes', '40', `${sample}/html`);
writeFileSync(`${sample}/articles.tsv`, somatlas('dump', '--store', `${sample}/store`));

// Every payload is the leading descriptor of some cell: groups of rows that have little else in common.
const hostile = path.join(folder, 'hostile');
mkdirSync(hostile);
writeFileSync(`${hostile}/names`, payloads.join('\n') + '\n');
const rows = [];
for (let i = 0; i < 12 * payloads.length; ++i) {
  const columns = new Set([i % payloads.length, (i + 1) % payloads.length, (7 * i + 3) % payloads.length]);
  rows.push(['0', ...[...columns].sort((a, b) => a - b).map((column) => `${column + 1}:1`)].join(' '));
}
writeFileSync(`${hostile}/rows.libsvm`, rows.join('\n') + '\n');
somatlas('import', '--store', `${hostile}/store`, '--format', 'libsvm', '--features', `${hostile}/names`, `${hostile}/rows.libsvm`);
writeFileSync(`${hostile}/words.xml`, descriptorXml(payloads.map((name, i) => [`D9${String(i).padStart(8, '0')}`, name, [`no${i}. ${name}`]])));
somatlas('ingest', '--store', `${hostile}/store`, '--mesh', `${hostile}/words.xml`);
somatlas('train', '--store', `${hostile}/store`, '--atlas', `${hostile}/atlas`, '--side', '16', '--min-descriptors', '1');
somatlas('export', '--atlas', `${hostile}/atlas`, '--format', 'html', `${hostile}/html`);
