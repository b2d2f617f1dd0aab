import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { kinds, pluralOf } from '../../events/catalogue/catalogue.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))

const filesIn = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:ts|md)$/.test(name))
    .map((name) => join(folder, name))

const texts = [...['docs', 'src'].flatMap(filesIn), 'README.md'].map((name) => ({ name, text: readFileSync(join(root, name), 'utf8') }))

test.each(kinds.map((kind) => pluralOf(kind).replaceAll('_', ' ')))(
  'no message and no page says that there are no %s, as there are',
  (plural) => {
    const denials = [
      `there are no ${plural} here`,
      `this service (?:has no|does not have|knows no) ${plural}`,
      `\\b${plural}\\b[^.\\n]*, which this service does not have`,
      `${plural} (?:are|do) not (?:answer|run|exist|built|available)[^.\\n]* yet`,
    ]
    const found = texts.flatMap(({ name, text }) =>
      [...text.matchAll(new RegExp(denials.join('|'), 'gi'))].map(([said]) => `${name}: ${said}`),
    )
    expect(found).toEqual([])
  },
)
