import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { ApiError, json, type RequestOptions } from '../../api/request.js'
import { select } from '../../api/sql.js'
import { pathOfResource } from '../../basics/kinds.js'
import { asApiError, useIsShown } from '../../basics/loading.js'
import { goToMade } from '../../basics/place.js'
import { nameFrom } from '../../basics/words.js'
import { Busy, Refusal } from '../../components/notice.js'

type UploadedFile = { name: string; rows: number }

/** A file whose name belongs to an existing table, and a free name. */
type Clash = { file: File; name: string; free: string }

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

type ClashProps = { clash: Clash; take: (name: string, isAgain?: boolean) => void; leave: () => void }

/** Asks whether the table gets new content or the file gets another name. */
const ClashForm = ({ clash: { file, name, free }, take, leave }: ClashProps) => {
  const other = useSignal(free)
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault()
        take(other.value.trim())
      }}
    >
      <p role="alert">
        There is a table <strong>{name}</strong> already. What is {file.name}?
      </p>
      <label>
        Name of a new table
        <input value={other.value} required onInput={({ currentTarget }) => (other.value = currentTarget.value)} />
      </label>
      <p class="tools">
        <button type="submit" class="primary">
          A new table
        </button>
        <button type="button" onClick={() => take(name, true)} title="Its earlier contents stay in its history">
          New rows for {name}
        </button>
        <button type="button" onClick={leave}>
          Leave it out
        </button>
      </p>
    </form>
  )
}

/** A file that is being uploaded. `share` of it is sent, from 0 to 1; then the service reads it. */
type Sending = { file: File; share: number; cancelling: AbortController }

/** The state of an upload. It can be cancelled while the file is being sent: once the service has the whole file, it makes the table. */
const SendingState = ({ sending: { file, share, cancelling } }: { sending: Sending }) =>
  share < 1 ? (
    <>
      <Busy what={`Sending ${file.name}`} />
      <div class="row">
        <progress aria-label={`Sent of ${file.name}`} value={share} />
        <button type="button" onClick={() => cancelling.abort()}>
          Cancel
        </button>
      </div>
    </>
  ) : (
    <Busy what={`Reading ${file.name}`} />
  )

/** Whether files are dragged, and not a text or a link. */
const hasFiles = ({ dataTransfer }: DragEvent): boolean => dataTransfer?.types.includes('Files') === true

/** Uploads files that are dropped or chosen, one after the other. No existing table is overwritten without the user's consent. */
export const Uploads = ({ done }: { done: () => void }) => {
  const refused = useSignal<readonly ApiError[]>([])
  const sending = useSignal<Sending | undefined>(undefined)
  const clash = useSignal<Clash | undefined>(undefined)
  const isOver = useSignal(false)
  const waiting = useSignal<readonly File[]>([])
  /** The last table that was uploaded. */
  const made = useSignal<string | undefined>(undefined)
  const isShown = useIsShown()

  const refuse = (file: File, error: unknown): void => {
    const { status, message, hint } = asApiError(error)
    refused.value = [...refused.value, new ApiError({ status, detail: `${file.name}: ${message}`, hint })]
  }
  /** Uploads a file, or asks for another name if there is a table of this name. */
  const send = async (file: File, name: string, isAgain: boolean, cancelling: AbortController): Promise<void> => {
    const onSent = (share: number): void => {
      sending.value = { file, share, cancelling }
    }
    onSent(0)
    if (isAgain || !(await namesLike(name)).has(folded(name))) {
      try {
        made.value = (await upload(file, name, { isAgain, onSent, signal: cancelling.signal })).name
        return
      } catch (error) {
        if (cancelling.signal.aborted) return
        if (asApiError(error).status !== 412) throw error
      }
    }
    clash.value = { file, name, free: await freeNameLike(name) }
  }
  /** Uploads a file, and then the waiting ones, up to the first whose name is taken. */
  const goOn = async (file: File, name = tableNameOf(file.name), isAgain = false): Promise<void> => {
    clash.value = undefined
    try {
      await send(file, name, isAgain, new AbortController())
    } catch (error) {
      refuse(file, error)
    } finally {
      sending.value = undefined
    }
    if (clash.peek() === undefined) await next()
  }
  /** Shows the last table, unless there is a refusal to read. */
  const finish = (): void => {
    const name = made.value
    if (name === undefined) return
    made.value = undefined
    done()
    if (refused.value.length === 0 && isShown()) goToMade(pathOfResource('file', null, name), { tab: 'rows' })
  }
  const next = async (): Promise<void> => {
    const [file, ...rest] = waiting.value
    waiting.value = rest
    if (file) await goOn(file)
    else finish()
  }
  const take = (files: FileList | null | undefined) => {
    const isIdle = sending.value === undefined && clash.value === undefined
    waiting.value = [...waiting.value, ...(files ?? [])]
    if (!isIdle) return
    refused.value = []
    void next()
  }
  // Beside the box, the browser would leave the console and open the file.
  useEffect(() => {
    const ending = new AbortController()
    const on = (type: 'dragover' | 'dragleave' | 'drop', act: (event: DragEvent) => void) =>
      document.addEventListener(type, (event) => hasFiles(event) && act(event), ending)
    on('dragover', (event) => {
      event.preventDefault()
      isOver.value = true
    })
    on('dragleave', ({ relatedTarget }) => {
      if (relatedTarget === null) isOver.value = false
    })
    on('drop', (event) => {
      event.preventDefault()
      isOver.value = false
      take(event.dataTransfer?.files)
    })
    return () => ending.abort()
  })
  const asked = clash.value
  return (
    <>
      <div class={isOver.value ? 'drop over' : 'drop'}>
        <label>
          <strong>Upload files</strong>
          <span class="quiet">CSV, JSON or Parquet; drop them on this page, or choose them</span>
          <input
            type="file"
            multiple
            accept=".csv,.tsv,.json,.jsonl,.parquet,.txt,.md"
            onChange={({ currentTarget }) => (take(currentTarget.files), (currentTarget.value = ''))}
          />
        </label>
        {sending.value && <SendingState sending={sending.value} />}
      </div>
      {asked && (
        <ClashForm
          key={asked.file.name}
          clash={asked}
          take={(name, isAgain) => void goOn(asked.file, name, isAgain)}
          leave={() => ((clash.value = undefined), void next())}
        />
      )}
      {refused.value.map((error, i) => (
        <Refusal key={i} error={error} />
      ))}
    </>
  )
}
