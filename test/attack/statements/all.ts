import { catalogue, changes, settings, textAsSql } from './inside.js'
import { models } from './models.js'
import { extensions, files } from './outside.js'
import { characters, nesting } from './texts.js'

/** Statements that have no answer, by what they try. */
export const refused = {
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
