import * as z from 'zod'
import { ConfigError } from '../../setup/config.js'
import type { Output, Screen } from '../terminal/output.js'
import { erasable } from '../access/erasable.js'
import { UsageError } from '../access/usage-error.js'
import { refusalText, withServer, type CommandConfig } from '../access/server.js'

type EraseOptions = {
  /** The kind of data to erase, and its name or id: `['request', '0198…']`. */
  subject: readonly string[]
  contentVersion: number | undefined
  reason: string | undefined
  shared: boolean
  dryRun: boolean
}

const usage = `erase takes one of:
${erasable}`

const whole = (text: string | undefined): number => {
  const number = Number(text)
  if (!Number.isSafeInteger(number) || number < 1) throw new ConfigError(usage)
  return number
}

/** How many arguments a subject takes besides its first. */
const further: Readonly<Record<string, number>> = { documents: Infinity, secrets: 1 }

/** Refuses what would not be read: the user would take it for erased, or for spared. */
const refuseUnread = ([what = '', , ...more]: readonly string[], contentVersion: number | undefined): void => {
  const unread = more[further[what] ?? 0]
  if (unread !== undefined) throw new UsageError(`erase ${what} takes no argument ${unread}`)
  if (contentVersion !== undefined && what !== 'file') throw new UsageError(`erase ${what} takes no --content-version`)
}

/** The subject of an erasure, in the form of POST /api/log/erasures. */
const erasureSubject = ([what, first, ...more]: readonly string[], contentVersion: number | undefined): object => {
  if (first === undefined) throw new ConfigError(usage)
  switch (what) {
    case 'prediction':
      return { prediction: whole(first) }
    case 'answer':
      return { answer: /^\d+$/.test(first) ? whole(first) : first }
    case 'conversation':
      return { conversation: first }
    case 'request':
      return { request: first }
    case 'file':
      return { file: { name: first, ...(contentVersion !== undefined && { version: contentVersion }) } }
    case 'matrix': {
      const [, project, model, version] = /^([^.]+)\.(.+)\.(\d+)$/.exec(first) ?? []
      if (project === undefined) throw new ConfigError(usage)
      return { matrix: { project, model, version: whole(version) } }
    }
    case 'secrets': {
      const [second] = more
      if (second === undefined) throw new ConfigError(usage)
      const [, project, name = second] = /^([^.]+)\.(.+)$/.exec(second) ?? []
      return { secrets: { kind: first, name, ...(project !== undefined && { project }) } }
    }
    case 'documents': {
      const [, project, name] = /^([^.]+)\.(.+)$/.exec(first) ?? []
      if (project === undefined) throw new ConfigError(usage)
      return { documents: { project, knowledge_base: name, ...(more.length > 0 && { ids: more }) } }
    }
    case 'before':
      return { before: first }
    default:
      throw new ConfigError(usage)
  }
}

const erasedSchema = z.looseObject({
  subject: z.string(),
  positions: z.array(z.number()),
  payloads: z.number(),
  rows: z.number(),
  blobs: z.array(z.string()),
  // A server of an earlier release does not tell it.
  kept_answers: z.boolean().default(false),
  already_erased: z.number(),
  shared_with: z.array(z.string()),
  also_in: z.array(z.string()),
})

const count = (n: number, of: string): string => `${n} ${of}${n === 1 ? '' : 's'}`

const show = (body: unknown, { dryRun }: EraseOptions, out: Output): void => {
  const { subject, positions, payloads, rows, blobs, kept_answers, already_erased, shared_with, also_in } = erasedSchema.parse(body)
  const amount = `${count(payloads, 'payload')} (${count(rows, 'row')} of predictions or answers), ${count(blobs.length, 'blob')}`
  const saidAt = `the log says so at ${positions.join(', ')}`
  const isEmpty = payloads + blobs.length === 0
  const kept = 'the answers that were kept for repeated requests'
  if (isEmpty && positions.length > 0) out.line(`${subject}: erased ${kept}; ${saidAt}`)
  else if (isEmpty && dryRun && kept_answers) out.line(`${subject}: ${kept} would be erased`)
  else if (isEmpty) out.line(`${subject}: nothing is left to erase; ${already_erased} were erased before`)
  else if (dryRun) out.line(`${subject}: ${amount} would be erased`)
  else out.line(`${subject}: erased ${amount}; ${saidAt}`)
  for (const line of shared_with) out.line(`the same bytes: ${line}`)
  for (const line of also_in) out.line(`stays: ${line}`)
}

/**
 * `mindledger erase …`: erases on the running server, or on a temporary one if no server holds the data directory. Returns when no byte of
 * the data is left.
 */
export const erase = async (config: CommandConfig, options: EraseOptions, out: Screen): Promise<number> => {
  const { subject, contentVersion, reason, shared, dryRun } = options
  const body = { ...erasureSubject(subject, contentVersion), reason: reason ?? null, shared, dry_run: dryRun }
  refuseUnread(subject, contentVersion)
  return withServer(config, async (server) => {
    const { status, body: answer } = await server.post('/api/log/erasures', body)
    if (status === 200) show(answer, options, out)
    else out.error(refusalText(answer))
    return status === 200 ? 0 : 1
  })
}
