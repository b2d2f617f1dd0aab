import { useSignal } from '@preact/signals'
import { json, type ApiError } from '../../api/request.js'
import { select } from '../../api/sql.js'
import { asApiError, useIsShown } from '../../basics/loading.js'
import { go, pathOf } from '../../basics/place.js'
import { Busy, Refusal } from '../../parts/notice.js'

type UploadedFile = { name: string; rows: number }

/** A file whose name belongs to an existing table, and a free name. */
type Clash = { file: File; name: string; free: string }

/**
 * Makes a table name from a file name. Letters of all scripts stay.
 *
 * @example tableNameOf('My homes (2).csv') // 'my_homes_2'
 */
export const tableNameOf = (file: string): string =>
  file
    .normalize('NFC')
    .replace(/\.[a-z0-9]{1,8}$/i, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '') || 'table'

/** Uploads a file as the content of a table; an existing table gets new content. @throws ApiError */
export const upload = async (file: File, name = tableNameOf(file.name)): Promise<UploadedFile> => {
  const form = new FormData()
  form.append('file', file)
  return json<UploadedFile>(`files/${encodeURIComponent(name)}`, { method: 'PUT', body: form })
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

const freeName = (name: string, taken: ReadonlySet<string>): string => {
  if (!taken.has(name)) return name
  let n = 2
  while (taken.has(`${name}_${n}`)) n += 1
  return `${name}_${n}`
}

/** A similar name that no table has. */
export const freeNameLike = async (name: string): Promise<string> => freeName(name, await namesLike(name))

type ClashProps = { clash: Clash; take: (name: string) => void; leave: () => void }

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
        <button type="button" onClick={() => take(name)} title="Its earlier contents stay in its history">
          New rows for {name}
        </button>
        <button type="button" onClick={leave}>
          Leave it out
        </button>
      </p>
    </form>
  )
}

/** Uploads files that are dropped or chosen, one after the other. No existing table is overwritten without the user's consent. */
export const Uploads = ({ done }: { done: () => void }) => {
  const error = useSignal<ApiError | undefined>(undefined)
  const sending = useSignal<string | undefined>(undefined)
  const clash = useSignal<Clash | undefined>(undefined)
  const isOver = useSignal(false)
  const waiting = useSignal<readonly File[]>([])
  const isShown = useIsShown()

  const send = async (file: File, name: string): Promise<void> => {
    const made = await upload(file, name)
    if (waiting.value.length > 0) return
    done()
    if (isShown()) go(pathOf('resources', 'file', '-', made.name), { tab: 'rows' })
  }
  /** Uploads the waiting files, up to the first whose name is taken. */
  const goOn = async (file: File | undefined, as?: string): Promise<void> => {
    if (!file) return
    clash.value = undefined
    sending.value = file.name
    try {
      const name = as ?? tableNameOf(file.name)
      const taken = as === undefined ? await namesLike(name) : new Set<string>()
      if (taken.has(folded(name))) {
        clash.value = { file, name, free: freeName(name, taken) }
        return
      }
      await send(file, name)
    } catch (refused) {
      error.value = asApiError(refused)
    } finally {
      sending.value = undefined
    }
    await next()
  }
  const next = async (): Promise<void> => {
    const [file, ...rest] = waiting.value
    waiting.value = rest
    await goOn(file)
  }
  const take = (files: FileList | null | undefined) => {
    const isIdle = sending.value === undefined && clash.value === undefined
    waiting.value = [...waiting.value, ...(files ?? [])]
    error.value = undefined
    if (isIdle) void next()
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    isOver.value = false
    take(event.dataTransfer?.files)
  }
  const asked = clash.value
  return (
    <>
      <div
        class={isOver.value ? 'drop over' : 'drop'}
        onDragOver={(event) => (event.preventDefault(), (isOver.value = true))}
        onDragLeave={() => (isOver.value = false)}
        onDrop={drop}
      >
        <label>
          <strong>Upload files</strong>
          <span class="quiet">CSV, JSON or Parquet; drop them here, or choose them</span>
          <input
            type="file"
            multiple
            accept=".csv,.tsv,.json,.jsonl,.parquet,.txt,.md"
            onChange={({ currentTarget }) => (take(currentTarget.files), (currentTarget.value = ''))}
          />
        </label>
        {sending.value !== undefined && <Busy what={`Reading ${sending.value}`} />}
      </div>
      {asked && (
        <ClashForm
          key={asked.file.name}
          clash={asked}
          take={(name) => void goOn(asked.file, name)}
          leave={() => ((clash.value = undefined), void next())}
        />
      )}
      {error.value && <Refusal error={error.value} />}
    </>
  )
}
