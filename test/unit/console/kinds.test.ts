import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { isInProject, kinds, pluralOf, type Kind } from '../../../events/catalogue/catalogue.js'
import { repository } from '../../support/cli.js'

/** Kinds of which the console has pages of another form: settings, conversations with their chatbots, and engines in lists of models. */
const elsewhere: readonly Kind[] = ['config', 'conversation', 'engine']

test('the console lists every kind of resource, with its words and whether it lives in projects', () => {
  // It imports nothing of the catalogue, since it knows the API alone.
  const text = readFileSync(join(repository, 'src/console/basics/kinds.ts'), 'utf8')
  const listed = [...text.matchAll(/kind: '(\w+)',\s*plural: '(\w+)'[^}]*?isInProject: (true|false)/g)].map(([, ...words]) => words)
  const known = kinds.filter((kind) => !elsewhere.includes(kind)).map((kind) => [kind, pluralOf(kind), String(isInProject(kind))])
  expect(listed.sort()).toEqual(known.sort())
})
