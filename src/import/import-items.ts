import { createReadStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { v7 as uuidv7 } from 'uuid'
import * as z from 'zod'
import { RefusedCommandError, ServiceError, type Client } from './client.js'
import { downloadFile } from './download-file.js'
import type { CreationMethod, Item, RequestMethod } from './items.js'

/** The outcome for an item: `failed` is the reason why it could not be created; undefined if it was created. */
export type ItemOutcome = { item: Item; failed: string | undefined; notes: string[] }

/** The two services, a directory for temporary files, and a callback for progress. */
export type ImportContext = { old: Client; here: Client; directory: string; onProgress: (text: string) => void }

const pollMs = 500

const upload = z.looseObject({ rows: z.number().optional(), warnings: z.array(z.string()).optional() })
const training = z.looseObject({ status: z.string(), error: z.string().nullish() })

const keyed = (headers: Record<string, string> = {}): Record<string, string> => ({ 'idempotency-key': `import-${uuidv7()}`, ...headers })

/** Sends a command, and repeats it if the answer is lost. Its idempotency key makes the service execute it only once. */
const command = async ({ here }: ImportContext, path: string, body: object): Promise<unknown> => {
  const init = { method: 'POST', body: JSON.stringify(body), headers: keyed({ 'content-type': 'application/json' }) }
  try {
    return await here.write(path, init)
  } catch (error) {
    if (!(error instanceof ServiceError) || error instanceof RefusedCommandError) throw error
    return here.write(path, init)
  }
}

/** Uploads a file unless a file with its name already exists. A file that did not arrive whole is deleted again. */
const copyFile = async ({ name }: Item, { old, here, directory, onProgress }: ImportContext): Promise<string[]> => {
  const path = join(directory, 'rows')
  try {
    const { contentType, rows } = await downloadFile(old, name, path, (read) => onProgress(`file ${name}: ${read} rows read`))
    const init: RequestInit = {
      method: 'PUT',
      body: Readable.toWeb(createReadStream(path)) as ReadableStream,
      duplex: 'half',
      headers: keyed({ 'content-type': contentType, 'if-none-match': '*' }),
    }
    const target = `/api/files/${encodeURIComponent(name)}`
    const told = upload.safeParse(await here.write(target, init)).data
    if (told?.rows === rows) return told.warnings ?? []
    await here.write(target, { method: 'DELETE', headers: keyed() })
    throw new ServiceError(`${rows} rows were sent, and ${told?.rows ?? 'nobody knows how many'} arrived, so it is deleted here again`)
  } finally {
    await rm(path, { force: true })
  }
}

/** Starts a training and waits for its end. */
const train = async ({ name }: Item, project: string, statement: string, context: ImportContext): Promise<string[]> => {
  const path = `/api/projects/${encodeURIComponent(project)}/models`
  const { here, onProgress } = context
  await command(context, path, { query: statement })
  for (;;) {
    const model = training.safeParse(await here.read(`${path}/${encodeURIComponent(name)}`)).data
    if (model?.status === 'complete') return []
    if (model?.status !== 'generating' && model?.status !== 'training')
      throw new ServiceError(`its training failed: ${model?.error ?? 'the model is gone'}`)
    onProgress(`model ${name}: ${model.status}`)
    await sleep(pollMs)
  }
}

const request = async ({ path, body, otherwise }: RequestMethod, context: ImportContext): Promise<string[]> => {
  try {
    await command(context, path, body)
    return []
  } catch (error) {
    if (!otherwise || !(error instanceof RefusedCommandError)) throw error
    await command(context, path, otherwise.body)
    return [`${otherwise.note}: ${error.message}`]
  }
}

const importItem = async (item: Item, make: CreationMethod, context: ImportContext): Promise<string[]> => {
  switch (make.by) {
    case 'request':
      return request(make, context)
    case 'statement':
      await context.here.query(make.statement, keyed())
      return []
    case 'training':
      return train(item, make.project, make.statement, context)
    case 'upload':
      return copyFile(item, context)
    default:
      return make satisfies never
  }
}

type AttemptOutcome = ItemOutcome & { isRefused: boolean }

const attempt = async (item: Item, context: ImportContext): Promise<AttemptOutcome> => {
  if (item.fate.is !== 'create') return { item, failed: undefined, notes: [], isRefused: false }
  context.onProgress(`${item.kind} ${item.name}`)
  try {
    return { item, failed: undefined, notes: await importItem(item, item.fate.make, context), isRefused: false }
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    return { item, failed: error.message, notes: [], isRefused: error instanceof RefusedCommandError }
  }
}

/**
 * Creates the items of a plan. Refused items are tried again as long as others succeed, because a view may need a later view, and an agent
 * may need a model. A failed item does not prevent the others.
 *
 * @example const failed = (await importItems(plan, context)).filter(({ failed }) => failed !== undefined)
 */
export const importItems = async (plan: readonly Item[], context: ImportContext): Promise<ItemOutcome[]> => {
  const tried = new Map<Item, AttemptOutcome>()
  let left = plan.filter(({ fate }) => fate.is === 'create')
  for (let before = Infinity; left.length > 0 && left.length < before;) {
    before = left.length
    for (const item of left) tried.set(item, await attempt(item, context))
    left = left.filter((item) => tried.get(item)?.isRefused === true)
  }
  return [...tried.values()].map(({ item, failed, notes }) => ({ item, failed, notes }))
}
