import { signal } from '@preact/signals'
import { ApiError, json, type RequestOptions } from '../../api/request.js'
import { select } from '../../api/sql.js'
import { asApiError } from '../../basics/loading.js'
import { nameFrom } from '../../basics/words.js'

type UploadedFile = { name: string; rows: number }

/** A file whose name belongs to an existing table, and a free name. */
export type Clash = { file: File; name: string; free: string }

/** A file that is being uploaded. `share` of it is sent, from 0 to 1; then the service reads it. */
export type Sending = { file: File; share: number; cancelling: AbortController }

/**
 * Makes a table name from a file name.
 *
 * @example tableNameOf('My homes (2).csv') // 'my_homes_2'
 */
const tableNameOf = (file: string): string => nameFrom(file.replace(/\.[a-z0-9]{1,8}$/i, '')) || 'table'

type UploadOptions = Pick<RequestOptions, 'onSent' | 'signal'> & { isAgain?: boolean }

/** Uploads a file as the content of a table. Without `isAgain`, an existing table is refused with 412. @throws as request */
export const upload = async (file: File, name: string, { isAgain = false, ...ask }: UploadOptions = {}): Promise<UploadedFile> => {
  const form = new FormData()
  form.append('file', file)
  const headers = isAgain ? undefined : { 'If-None-Match': '*' }
  return json<UploadedFile>(`files/${encodeURIComponent(name)}`, { method: 'PUT', body: form, ...(headers && { headers }), ...ask })
}

const folded = (name: string): string => name.normalize('NFC').toLowerCase()

/** The names of tables with a common beginning. */
const namesLike = async (name: string): Promise<Set<string>> => {
  const found = await select<{ name: string }>({
    query: `SELECT name FROM log.resources WHERE kind = 'file' AND starts_with(lower(name), lower(:name))`,
    params: { name },
  })
  return new Set(found.map((one) => folded(one.name)))
}

/** A similar name that no table has. */
export const freeNameLike = async (name: string): Promise<string> => {
  const taken = await namesLike(name)
  const base = folded(name)
  if (!taken.has(base)) return base
  let n = 2
  while (taken.has(`${base}_${n}`)) n += 1
  return `${base}_${n}`
}

/**
 * The files that this window uploads, one after the other. They go on while another page is shown, up to the first whose name is taken. No
 * existing table is overwritten without the user's consent.
 */
class UploadQueue {
  readonly refused = signal<readonly ApiError[]>([])
  readonly sending = signal<Sending | undefined>(undefined)
  readonly clash = signal<Clash | undefined>(undefined)
  /** Gets the last table when no file waits any more; undefined while no page shows the queue. */
  #whenDone: ((table: string) => void) | undefined
  #waiting: readonly File[] = []
  /** The last table that was uploaded. */
  #made: string | undefined

  get #isIdle(): boolean {
    return this.sending.peek() === undefined && this.clash.peek() === undefined
  }

  /** Says what to do at the end while a page shows the queue. The returned function ends that, and drops refusals that were shown. */
  show(whenDone: (table: string) => void): () => void {
    this.#whenDone = whenDone
    return () => {
      this.#whenDone = undefined
      if (this.#isIdle) this.refused.value = []
    }
  }

  take(files: Iterable<File>): void {
    const isIdle = this.#isIdle
    this.#waiting = [...this.#waiting, ...files]
    if (!isIdle) return
    this.refused.value = []
    void this.#next()
  }

  /** Uploads a file, and then the waiting ones, up to the first whose name is taken. */
  async goOn(file: File, name = tableNameOf(file.name), isAgain = false): Promise<void> {
    this.clash.value = undefined
    try {
      await this.#send(file, name, isAgain, new AbortController())
    } catch (error) {
      const { status, message, hint } = asApiError(error)
      this.refused.value = [...this.refused.value, new ApiError({ status, detail: `${file.name}: ${message}`, hint })]
    } finally {
      this.sending.value = undefined
    }
    if (this.clash.peek() === undefined) await this.#next()
  }

  /** Goes on without the file whose name is taken. */
  async leaveOut(): Promise<void> {
    this.clash.value = undefined
    await this.#next()
  }

  /** Uploads a file, or asks for another name if there is a table of this name. */
  async #send(file: File, name: string, isAgain: boolean, cancelling: AbortController): Promise<void> {
    const onSent = (share: number): void => {
      this.sending.value = { file, share, cancelling }
    }
    onSent(0)
    if (isAgain || !(await namesLike(name)).has(folded(name))) {
      try {
        this.#made = (await upload(file, name, { isAgain, onSent, signal: cancelling.signal })).name
        return
      } catch (error) {
        if (cancelling.signal.aborted) return
        if (asApiError(error).status !== 412) throw error
      }
    }
    this.clash.value = { file, name, free: await freeNameLike(name) }
  }

  async #next(): Promise<void> {
    const [file, ...rest] = this.#waiting
    this.#waiting = rest
    if (file) await this.goOn(file)
    else this.#end()
  }

  #end(): void {
    const name = this.#made
    this.#made = undefined
    if (name !== undefined) this.#whenDone?.(name)
  }
}

export const uploads = new UploadQueue()
