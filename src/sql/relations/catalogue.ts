import { named } from '../names.js'
import { listings, systemRelations } from './information-schema.js'
import { logRelations } from './log.js'
import type { Relation } from './relation.js'
import { resourceRelations } from './resources.js'

const fixed = [
  { schema: 'information_schema', relations: [...systemRelations, ...resourceRelations] },
  { schema: 'log', relations: logRelations },
  { schema: null, relations: resourceRelations },
]

/** What SQL offers beside the users' own views, models and files: by schema, and what every project has. */
export const catalogue = {
  information_schema: [...systemRelations, ...resourceRelations, ...listings(fixed)],
  log: logRelations,
  project: resourceRelations,
} as const

/** `relationOf('log', 'Events')` → the relation, or undefined; names are compared without case. */
export const relationOf = (schema: keyof typeof catalogue, name: string): Relation | undefined => named(catalogue[schema], name)
