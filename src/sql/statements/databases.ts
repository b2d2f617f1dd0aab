import type { JsonObject } from '../../../events/common.js'
import type { LeadingWords, Cursor } from './cursor.js'
import { sameUsage, type Topic } from './forms.js'
import { takeIfExists, takeIfNotExists, takePart } from './names.js'
import type { StatementOf } from './statement.js'
import { takeObject, takeSettings, takeText } from './values.js'

/** The engine whose databases are projects. */
const projectEngine = 'mindsdb'

type Clauses = { engine: string | null; parameters: JsonObject | null }

/** `[WITH|USING] [ENGINE [=] 'e'] [,] [PARAMETERS [=] {…}]`, in either order. */
const takeClauses = (cursor: Cursor): Clauses => {
  const clauses: Clauses = { engine: null, parameters: null }
  const opened = cursor.takeOneOf('WITH', 'USING') !== undefined
  for (let first = true; ; first = false) {
    const comma = !first && cursor.takeSymbol(',')
    if (clauses.engine === null && cursor.takeWords('ENGINE')) {
      cursor.takeSymbol('=')
      clauses.engine = takeText(cursor, "'engine'")
    } else if (clauses.parameters === null && cursor.takeWords('PARAMETERS')) {
      cursor.takeSymbol('=')
      clauses.parameters = takeObject(cursor)
    } else if (comma || (opened && first)) cursor.fail()
    else return clauses
  }
}

/** `CREATE [OR REPLACE] PROJECT|DATABASE|SCHEMA`, these words already taken. Without an engine it is a project. */
const takeCreateDatabase = (cursor: Cursor, { replace }: LeadingWords): StatementOf<'create_project'> | StatementOf<'create_database'> => {
  const ifNotExists = takeIfNotExists(cursor)
  const name = takePart(cursor)
  const { engine, parameters } = takeClauses(cursor)
  if (engine === null && parameters !== null) {
    cursor.expect('ENGINE')
    cursor.fail()
  }
  if (engine === null || engine.toLowerCase() === projectEngine) return { kind: 'create_project', name, ifNotExists, replace }
  return { kind: 'create_database', name, ifNotExists, replace, engine, parameters: parameters ?? {} }
}

/** `DROP PROJECT|DATABASE|SCHEMA [IF EXISTS] name`, the words before IF already taken. */
const takeDropDatabase = (cursor: Cursor): StatementOf<'drop_database'> => {
  const ifExists = takeIfExists(cursor)
  return { kind: 'drop_database', name: takePart(cursor), ifExists }
}

/** `ALTER DATABASE x [USING] NAME = 'y', ENGINE = 'e', PARAMETERS = {…}`, each at most once. */
const takeAlterDatabase = (cursor: Cursor): StatementOf<'alter_database'> => {
  const name = takePart(cursor)
  cursor.takeOneOf('WITH', 'USING', 'SET')
  const start = cursor.peek()
  const { name: newName, engine, parameters, ...others } = takeSettings(cursor)
  const unknown = Object.keys(others)[0]
  if (unknown !== undefined) cursor.refuse(start, `${unknown} is not one of NAME, ENGINE, PARAMETERS`)
  if (newName !== undefined && typeof newName !== 'string') cursor.refuse(start, 'NAME is a text')
  if (engine !== undefined && typeof engine !== 'string') cursor.refuse(start, 'ENGINE is a text')
  if (parameters !== undefined && (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters)))
    cursor.refuse(start, 'PARAMETERS is an object: {…}')
  return { kind: 'alter_database', name, newName: newName ?? null, engine: engine ?? null, parameters: parameters ?? null }
}

export const databases = {
  create_project: {
    effect: 'writes',
    forms: [
      {
        verb: 'CREATE',
        orReplace: true,
        nouns: {
          PROJECT: 'CREATE PROJECT [IF NOT EXISTS] name',
          ...sameUsage(['DATABASE', 'SCHEMA'], (noun) => `CREATE ${noun} [IF NOT EXISTS] name [WITH ENGINE = 'engine', PARAMETERS = {…}]`),
        },
        take: takeCreateDatabase,
      },
    ],
  },
  create_database: { effect: 'writes', forms: 'create_project' },
  alter_database: {
    effect: 'writes',
    forms: [
      {
        verb: 'ALTER',
        nouns: { PROJECT: null, DATABASE: "ALTER DATABASE name NAME = 'new' | ENGINE = 'engine' | PARAMETERS = {…}", SCHEMA: null },
        take: takeAlterDatabase,
      },
    ],
  },
  drop_database: {
    effect: 'writes',
    forms: [
      {
        verb: 'DROP',
        nouns: { ...sameUsage(['PROJECT', 'DATABASE'], (noun) => `DROP ${noun} [IF EXISTS] name`), SCHEMA: null, DATASOURCE: null },
        take: takeDropDatabase,
      },
    ],
  },
} satisfies Topic
