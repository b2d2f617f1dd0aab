import { takeQueries, takeQuery } from './clauses.js'
import type { Cursor } from './cursor.js'
import type { Topic } from './forms.js'
import { takeIfExists, takeIfNotExists, takeName, takePart } from './names.js'
import type { JobClauses, JobSchedule, StatementOf } from './statement.js'
import { takeText, takeWhole } from './values.js'

const takeEvery = (cursor: Cursor): string => {
  if (cursor.peek()?.kind !== 'number') return takeText(cursor, "'n period'")
  return `${takeWhole(cursor, 'a number')} ${takePart(cursor, 'a period')}`
}

/** `CREATE JOB j [AS] (q1; q2)`, then START, END, EVERY and IF in any order, each at most once. */
const takeCreateJob = (cursor: Cursor): StatementOf<'create_job'> => {
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

/** A clause, or the NULL that removes it. */
const takeOrNull = (cursor: Cursor, take: (cursor: Cursor) => string): string | null => (cursor.takeWords('NULL') ? null : take(cursor))

/** `ALTER JOB j [[AS] (q1; q2)]`, then the same clauses as in CREATE JOB. At least one of all these is needed. */
const takeAlterJob = (cursor: Cursor): StatementOf<'alter_job'> => {
  const target = takeName(cursor, 'a job')
  const changes: JobClauses = {}
  if (cursor.takeWords('AS') || cursor.isSymbol('(')) changes.queries = takeQueries(cursor)
  for (;;) {
    if (changes.start === undefined && cursor.takeWords('START')) changes.start = takeText(cursor, "'date'")
    else if (changes.end === undefined && cursor.takeWords('END')) changes.end = takeOrNull(cursor, (end) => takeText(end, "'date'"))
    else if (changes.every === undefined && cursor.takeWords('EVERY')) changes.every = takeOrNull(cursor, takeEvery)
    else if (changes.condition === undefined && cursor.takeWords('IF')) changes.condition = takeOrNull(cursor, takeQuery)
    else break
  }
  if (Object.keys(changes).length === 0) {
    cursor.expect('(')
    cursor.fail()
  }
  return { kind: 'alter_job', target, changes }
}

/** `DROP JOB [IF EXISTS] [project.]job`, the words before IF already taken. */
const takeDropJob = (cursor: Cursor): StatementOf<'drop_job'> => {
  const ifExists = takeIfExists(cursor)
  return { kind: 'drop_job', target: takeName(cursor, 'a job'), ifExists }
}

export const jobs = {
  create_job: {
    effect: 'writes',
    forms: [
      {
        verb: 'CREATE',
        nouns: {
          JOB: "CREATE JOB [IF NOT EXISTS] [project.]name (query; query) [START 'date'] [END 'date'] [EVERY n period] [IF (query)]",
        },
        take: takeCreateJob,
      },
    ],
  },
  alter_job: {
    effect: 'writes',
    forms: [
      {
        verb: 'ALTER',
        nouns: { JOB: "ALTER JOB [project.]name (query; query) [START 'date'] [END 'date'] [EVERY n period] [IF (query)]" },
        take: takeAlterJob,
      },
    ],
  },
  drop_job: { effect: 'writes', forms: [{ verb: 'DROP', nouns: { JOB: 'DROP JOB [IF EXISTS] [project.]name' }, take: takeDropJob }] },
} satisfies Topic
