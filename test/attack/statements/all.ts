import { catalogue, changes, settings, textAsSql } from './inside.js'
import { models } from './models.js'
import { extensions, files } from './outside.js'
import { characters, nesting } from './texts.js'

const groups = {
  'files and network': files,
  'extensions and other databases': extensions,
  settings,
  catalogue,
  'text run as SQL': textAsSql,
  changes,
  'several statements, comments and odd characters': characters,
  nesting,
  'models, time travel and types': models,
}

/** A group of statements that have no answer: each as it is written here, and with a directory of the test in the place of `{directory}`. */
export type Group = { name: string; statements: { written: string; sql: string }[] }

/** Statements that have no answer, by what they try. What some would write lands in `directory`, which therefore stays empty. */
export const refusedIn = (directory: string): Group[] =>
  Object.entries(groups).map(([name, statements]) => ({
    name,
    statements: statements.map((written) => ({ written, sql: written.replaceAll('{directory}', directory) })),
  }))
