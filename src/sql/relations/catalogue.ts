import { named } from '../../dialect/names.js'
import { absentResources, queries } from './absent.js'
import { languageModelCalls } from './answers.js'
import { listings, systemRelations } from './information-schema.js'
import { logRelations } from './log.js'
import { mysqlRelations } from './mysql.js'
import type { Relation } from './relation.js'
import { resourceRelations } from './resources.js'

const asSystems = (relation: Relation): Relation => ({ ...relation, kind: 'SYSTEM VIEW' })
// Clients know one table of a project, its models. All other tables appear as tables of the system.
const ofProject = [...resourceRelations, ...absentResources].map((relation) =>
  relation.name === 'models' ? relation : asSystems(relation),
)
const ofAllProjects = ofProject.map(asSystems)

const inSystem = [...systemRelations, ...ofAllProjects, queries, ...mysqlRelations]
const inLog = [...logRelations, languageModelCalls]

const fixed = [
  { schema: 'information_schema', relations: inSystem },
  { schema: 'log', relations: inLog },
  { schema: null, relations: ofProject },
]

/** The tables of SQL besides the users' own views, models and files: by schema, and those that every project has. */
export const catalogue = {
  information_schema: [...inSystem, ...listings(fixed)],
  log: inLog,
  project: ofProject,
} as const

/** `relationOf('log', 'Events')` → the relation, or undefined; names are compared without regard to case. */
export const relationOf = (schema: keyof typeof catalogue, name: string): Relation | undefined => named(catalogue[schema], name)
