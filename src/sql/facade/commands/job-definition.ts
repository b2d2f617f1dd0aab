import { instant } from '../../../../events/stored/envelope.js'
import type { JobText, JobTimes } from '../../../commands/job.js'
import { isProblem, Problem, wrong } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import { LongWork } from '../../../basics/long-work.js'
import { lastPlaces } from '../../../dialect/last-places.js'
import { lex } from '../../../dialect/lexer.js'
import { nameText } from '../../../dialect/strings.js'
import { parseStatement, splitStatements } from '../../statements/parse.js'
import { cutSecretsInTurns } from '../../../dialect/mask-secrets.js'
import type { Effect } from '../../statements/forms.js'
import { effectOf } from '../../statements/grammar.js'
import { fillTimes } from '../../../commands/rules/placeholders.js'
import { readTime } from '../../../basics/times.js'
import { readSchedule } from '../../../commands/rules/schedule.js'

/** The requested job, over SQL or REST: texts in their original form, null for missing ones. */
export type JobRequest = { query: string; ifQuery: string | null; start: string | null; end: string | null; every: string | null }

/** The statements whose query may use LAST. A model's rows must be readable again, and a view's by anybody, so these may not use it. */
const takesLast: ReadonlySet<string> = new Set(['select', 'insert', 'create_table'])

const anyTimes = { started_at: instant(0), previous: instant(0) }

/** The effect of a statement after its placeholders are replaced. @throws Problem that says which statement is wrong */
const effectIn = async (statement: string, label: string, work: LongWork): Promise<Effect> => {
  const filled = fillTimes(statement, anyTimes)
  try {
    const tokens = lex(filled)
    const parameter = tokens.find(({ kind }) => kind === 'parameter')
    if (parameter) throw wrong(`${parameter.text} is a parameter, and a job has none`, 'Write the value itself.')
    await work.pause()
    const parsed = parseStatement(filled)
    if (parsed.kind === 'use') {
      const place = nameText(parsed.name)
      throw new Problem('refused_statement', 'USE is not for a job', 'USE has no effect: each statement runs in the project of the job', {
        hint: `Name the place where it is meant, ${place}.name, or create the job there: CREATE JOB ${place}.name (…).`,
      })
    }
    if (lastPlaces(tokens).length > 0 && !takesLast.has(parsed.kind))
      throw new Problem('bad_statement', 'LAST belongs in a query', `LAST cannot be used in this statement`, {
        hint: 'It belongs in a SELECT, and in the query of an INSERT INTO or a CREATE TABLE.',
      })
    return effectOf(parsed)
  } catch (error) {
    if (!isProblem(error)) throw error
    throw new Problem(error.code, error.title, `${label}: ${error.detail}`, error.extras)
  }
}

/**
 * Reads the statements and times of a job, and refuses statements that could never run. It reads the texts several times, with pauses in
 * which other work runs.
 *
 * @example await readJob({ query: 'SELECT 1', ifQuery: null, start: null, end: null, every: 'every day' }, Date.now())
 * @throws Problem
 */
export const readJob = async (request: JobRequest, now: number): Promise<JobText & JobTimes> => ({
  ...(await readText(request)),
  ...readTimes(request, now),
})

const readText = async ({ query, ifQuery }: JobRequest): Promise<JobText> => {
  // This turn has already read the statement that holds these texts.
  const work = new LongWork({ goesOn: true })
  await work.pause()
  const statements = splitStatements(query)
  if (statements.length === 0) throw wrong('a job needs at least one statement')
  if (statements.length > limits.jobStatementsMax)
    throw wrong(`${statements.length} statements; a job has at most ${limits.jobStatementsMax}`, 'Make several jobs of them.')
  for (const [i, statement] of statements.entries()) {
    await work.pause()
    await effectIn(statement, `statement ${i + 1} of the job`, work)
  }
  await work.pause()
  const [condition = null, ...more] = ifQuery === null ? [] : splitStatements(ifQuery)
  if (more.length > 0 || (condition !== null && (await effectIn(condition, 'the condition of the job', work)) !== 'query'))
    throw new Problem('bad_statement', 'Not a query', 'the condition of a job is one query', {
      hint: 'IF (SELECT …): the job runs when it gives a row.',
    })
  await work.pause()
  const text = await withoutSecrets(statements.join(';\n'), condition)
  await work.pause()
  return text
}

/** The texts without their secrets, and the whole texts to be encrypted for the runs. */
const withoutSecrets = async (query: string, condition: string | null): Promise<JobText> => {
  const text = {
    statements: await cutSecretsInTurns(query),
    condition: condition === null ? null : await cutSecretsInTurns(condition),
  }
  if (text.statements === query && text.condition === condition) return { ...text, params: {} }
  return { ...text, params: { secret: { query, if_query: condition } } }
}

const readTimes = ({ start, end, every }: JobRequest, now: number): JobTimes => {
  const startAt = start === null ? now : readTime(start, 'start', now)
  const endAt = end === null ? null : readTime(end, 'end', now)
  return {
    now: instant(now),
    start_at: instant(startAt),
    end_at: endAt === null ? null : instant(endAt),
    schedule: every === null ? null : readSchedule(every),
  }
}
