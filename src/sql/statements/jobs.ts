import { takeQueries, takeQuery } from './clauses.js'
import type { Cursor } from './cursor.js'
import { takeIfExists, takeIfNotExists, takeName, takeNames, takePart, takeTable } from './names.js'
import type { JobSchedule, StatementOf } from './statement.js'
import { takeSettings, takeText, takeWhole } from './values.js'

const takeEvery = (cursor: Cursor): string => {
  if (cursor.peek()?.kind !== 'number') return takeText(cursor, "'n period'")
  return `${takeWhole(cursor, 'a number')} ${takePart(cursor, 'a period')}`
}

/** `CREATE JOB j [AS] (q1; q2)`, then START, END, EVERY and IF in any order, each at most once. */
export const takeCreateJob = (cursor: Cursor): StatementOf<'create_job'> => {
  const ifNotExists = takeIfNotExists(cursor)
  const target = takeName(cursor, 'a job')
  cursor.takeWords('AS')
  const queries = takeQueries(cursor)
  const schedule: JobSchedule = { start: null, end: null, every: null }
  let condition: string | null = null
  for (;;) {
    if (schedule.start === null && cursor.takeWords('START')) schedule.start = takeText(cursor, "'date'")
    else if (schedule.end === null && cursor.takeWords('END')) schedule.end = takeText(cursor, "'date'")
    else if (schedule.every === null && cursor.takeWords('EVERY')) schedule.every = takeEvery(cursor)
    else if (condition === null && cursor.takeWords('IF')) condition = takeQuery(cursor)
    else return { kind: 'create_job', target, ifNotExists, queries, condition, schedule }
  }
}

/** `DROP JOB [IF EXISTS] [project.]job`, the words before IF already taken. */
export const takeDropJob = (cursor: Cursor): StatementOf<'drop_job'> => {
  const ifExists = takeIfExists(cursor)
  return { kind: 'drop_job', target: takeName(cursor, 'a job'), ifExists }
}

/** `CREATE TRIGGER t ON db.table [COLUMNS a, b] (q)` */
export const takeCreateTrigger = (cursor: Cursor): StatementOf<'create_trigger'> => {
  const target = takeName(cursor, 'a trigger')
  cursor.needWords('ON')
  const table = takeTable(cursor)
  const columns = cursor.takeWords('COLUMNS') ? takeNames(cursor, 'a column') : []
  return { kind: 'create_trigger', target, table, columns, queries: takeQueries(cursor) }
}

/** `DROP TRIGGER [IF EXISTS] [project.]trigger`, the words before IF already taken. */
export const takeDropTrigger = (cursor: Cursor): StatementOf<'drop_trigger'> => {
  const ifExists = takeIfExists(cursor)
  return { kind: 'drop_trigger', target: takeName(cursor, 'a trigger'), ifExists }
}

/** `CREATE ML_ENGINE [IF NOT EXISTS] e FROM handler [USING …]` */
export const takeCreateEngine = (cursor: Cursor): StatementOf<'create_ml_engine'> => {
  const ifNotExists = takeIfNotExists(cursor)
  const name = takePart(cursor, 'an engine')
  cursor.needWords('FROM')
  const handler = takePart(cursor, 'a handler')
  return { kind: 'create_ml_engine', name, handler, ifNotExists, using: cursor.takeWords('USING') ? takeSettings(cursor) : {} }
}

/** `DROP ML_ENGINE [IF EXISTS] engine`, the words before IF already taken. */
export const takeDropEngine = (cursor: Cursor): StatementOf<'drop_ml_engine'> => {
  const ifExists = takeIfExists(cursor)
  return { kind: 'drop_ml_engine', name: takePart(cursor, 'an engine'), ifExists }
}
