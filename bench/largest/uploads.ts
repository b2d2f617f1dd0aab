import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { limits } from '../../src/basics/limits.js'
import type { Body } from './body.js'
import type { Maker } from './texts.js'

/** A file of the package with the analysts' tables. */
export const vegaFile = (name: string): string => join(dirname(createRequire(import.meta.url).resolve('vega-datasets')), '..', 'data', name)

/** Uploads are streamed, and their limit is far higher. A million rows are enough to see whether they block. */
const rows =
  (header: string, row: string): Maker =>
  (share) =>
    header + row.repeat(Math.ceil(1_000_000 * share))

const csv = rows('a,b,c\n', '1,some text,2.5\n')
const jsonRow = '{"a":1,"b":"some text","c":2.5}'
const jsonLines = rows('', `${jsonRow}\n`)
/** A text is one row. */
const text: Maker = (share) => 'some words '.repeat(Math.floor((share * limits.fileRowMaxBytes) / 11))

const form = (filename: string, content: Maker): Pick<Body, 'type' | 'content'> => ({
  type: 'multipart/form-data; boundary=x',
  content: (share) =>
    `--x\r\nContent-Disposition: form-data; name="file"; filename="${filename}"\r\nContent-Type: text/plain\r\n\r\n${content(share)}\r\n--x--\r\n`,
})

/** A file in each media type. */
export const uploads: readonly Body[] = [
  { name: 'rows', type: 'text/csv', content: csv },
  { name: 'rows with tabs', type: 'text/tab-separated-values', content: rows('a\tb\tc\n', '1\tsome text\t2.5\n') },
  { name: 'lines of JSON', type: 'application/x-ndjson', content: jsonLines },
  { name: 'lines of JSON by their other name', type: 'application/jsonl', content: jsonLines },
  // It is always sent whole: three million rows.
  { name: 'Parquet', type: 'application/vnd.apache.parquet', content: () => readFileSync(vegaFile('flights-3m.parquet')) },
  { name: 'a text', type: 'text/plain', content: text },
  { name: 'a text in Markdown', type: 'text/markdown', content: text },
  { name: 'a model', type: 'application/x-onnx', content: (share) => Buffer.alloc(Math.floor(share * limits.onnxMaxBytes), 'x') },
  { name: 'rows in a form', ...form('a.csv', csv) },
  { name: 'rows of JSON in a form', ...form('a.json', (share) => `[${rows('', `${jsonRow},`)(share)}${jsonRow}]`) },
]
