import { instant } from '../../../../events/stored/envelope.js'
import type { Job } from '../../../../events/job.js'
import { secretKey } from '../../../../events/secrets.js'
import type { ChangedText, JobText, JobTimes } from '../../../commands/job.js'
import type { LedgerCommand } from '../../../commands/dispatch.js'
import { isProblem, Problem, wrong } from '../../../basics/errors.js'
import { limits } from '../../../basics/limits.js'
import { LongWork } from '../../../basics/long-work.js'
import { mask } from '../../../basics/shown.js'
import { lastPlaces } from '../../../dialect/last-places.js'
import { lex } from '../../../dialect/lexer.js'
import { nameText } from '../../../dialect/strings.js'
import { parseStatement, splitStatements } from '../../statements/parse.js'
import { cutSecrets, cutSecretsInTurns } from '../../../dialect/mask-secrets.js'
import type { Effect } from '../../statements/forms.js'
import { effectOf } from '../../statements/grammar.js'
import { fillTimes } from '../../../commands/rules/placeholders.js'
import { readTime } from '../../../basics/times.js'
import { readSchedule } from '../../../commands/rules/schedule.js'
import type { CommandInputs } from './command-inputs.js'

/** The requested job, over SQL or REST: texts in their original form, null for missing ones. */
export type JobRequest = { query: string; ifQuery: string | null; start: string | null; end: string | null; every: string | null }

/** The same for a change. A missing part stays as it is, and null removes one that a job can be without. */
export type JobChangeRequest = Partial<Pick<JobRequest, 'query' | 'ifQuery' | 'end' | 'every'>> & { start?: string }

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

const readText = async ({ query, ifQuery }: Pick<JobRequest, 'query' | 'ifQuery'>): Promise<JobText> => {
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

/** The texts of a job with their secrets; undefined if these were erased. */
type WholeTexts = { query: string; if_query: string | null } | undefined

const wholeTexts = async ({ query, if_query, sealed }: Job, payloads: CommandInputs['payloads']): Promise<WholeTexts> => {
  if (!sealed) return { query, if_query }
  const body = await payloads.payload(sealed[secretKey])
  return body && (JSON.parse(body.toString()) as WholeTexts)
}

const secretsErased = (): Problem =>
  new Problem('not_found', 'Secrets erased', 'the secrets of this job were erased', { hint: 'Send its statements with their secrets.' })

/** Any text that would be a secret in the place of one. */
const stand = 'hG7x-22kq-Zr81'

/** Whether a statement has a mask where a secret belongs: another text there is cut as well. */
const lacksSecret = (statement: string): boolean => {
  const standing = statement.replaceAll(mask, stand)
  return cutSecrets(standing).split(stand).length < standing.split(stand).length
}

/**
 * Statements that were sent, with the secrets of those that are as the job shows them. A changed statement could show a secret, or send it
 * elsewhere, so it must come with its own.
 *
 * @throws Problem when a statement has a mask in the place of a secret, and is not one of the job
 */
const withKeptSecrets = (sent: string, shown: string, whole: string | undefined): string => {
  if (!sent.includes(mask)) return sent
  const known = splitStatements(shown)
  const originals = whole === undefined ? undefined : splitStatements(whole)
  const statements = splitStatements(sent).map((statement, i) => {
    if (!statement.includes(mask)) return statement
    const place = known[i] === statement ? i : known.indexOf(statement)
    if (place >= 0 && !originals) throw secretsErased()
    const original = originals?.length === known.length ? originals[place] : undefined
    if (original !== undefined) return original
    if (lacksSecret(statement))
      throw wrong(
        `statement ${i + 1} has ${mask} in the place of a secret, and is not as the job shows it`,
        'Send the secret itself. Only a statement that does not change keeps its secrets.',
      )
    return statement
  })
  return statements.join(';\n')
}

/** A text of the job that stays. */
const stays = (shown: string, whole: string | undefined): string => {
  if (whole !== undefined) return whole
  if (shown.includes(mask)) throw secretsErased()
  return shown
}

const isAsShown = (sent: string | null | undefined, shown: string | null): boolean =>
  sent === undefined || sent === shown || (sent !== null && shown !== null && splitStatements(sent).join(';\n') === shown)

/**
 * Both texts after a change; undefined if they stay as they are. The answer must not tell whether a secret in them is the one that the job
 * has, so the texts are compared as they are shown.
 */
const readChangedText = async (
  { query, ifQuery }: JobChangeRequest,
  job: Job,
  payloads: CommandInputs['payloads'],
): Promise<ChangedText | undefined> => {
  if (isAsShown(query, job.query) && isAsShown(ifQuery, job.if_query)) return undefined
  const before = await wholeTexts(job, payloads)
  const text = await readText({
    query: query === undefined ? stays(job.query, before?.query) : withKeptSecrets(query, job.query, before?.query),
    ifQuery:
      ifQuery === undefined
        ? job.if_query && stays(job.if_query, before?.if_query ?? undefined)
        : ifQuery && withKeptSecrets(ifQuery, job.if_query ?? '', before?.if_query ?? undefined),
  })
  return { ...text, was: { statements: job.query, condition: job.if_query, payload: job.sealed?.[secretKey] ?? null } }
}

const readChangedTimes = ({ start, end, every }: JobChangeRequest, now: number) => ({
  now: instant(now),
  ...(start !== undefined && { start_at: instant(readTime(start, 'start', now)) }),
  ...(end !== undefined && { end_at: end === null ? null : instant(readTime(end, 'end', now)) }),
  ...(every !== undefined && { schedule: every === null ? null : readSchedule(every) }),
})

/**
 * The command that changes a job. Secrets that stay are read from the job, so the origin of the command must be one that is refused after
 * an erasure (`Ledger.guarded`).
 *
 * @example await updateJob({ project: 'shop', job: 'nightly' }, { every: 'every hour' }, { resources, payloads, now: () => log.now() })
 * @throws Problem
 */
export const updateJob = async (
  { project, job }: { project: string; job: string },
  request: JobChangeRequest,
  { resources, payloads, now }: Pick<CommandInputs, 'resources' | 'payloads' | 'now'>,
): Promise<LedgerCommand> => {
  const within = await resources.one('project', project)
  const found = within && (await resources.one('job', job, within))
  // The command refuses a job that does not exist.
  const text = found && (await readChangedText(request, found.state, payloads))
  return { type: 'UpdateJob', data: { project, job, ...(text && { text }), ...readChangedTimes(request, now()) } }
}
