import { useSignal } from '@preact/signals'
import { json, type ApiError } from '../../api/request.js'
import { asApiError } from '../../basics/loading.js'
import { go, hrefOf, pathOf } from '../../basics/place.js'
import { Busy, Refusal } from '../../parts/notice.js'
import { sampleHomes } from './sample.js'

type UploadedFile = { name: string; rows: number }

/** A name of a table from the name of a file. @example tableNameOf('My homes (2).csv') // 'my_homes_2' */
export const tableNameOf = (file: string): string =>
  file
    .replace(/\.[a-z0-9]{1,8}$/i, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_+|_+$/g, '') || 'table'

/** Sends a table of invented homes, and leads to its first model. */
const takeSample = async (): Promise<void> => {
  await upload(new File([sampleHomes()], 'homes.csv', { type: 'text/csv' }))
  go('/models/new', { table: 'files.homes', target: 'rent', name: 'rent' })
}

const upload = async (file: File): Promise<UploadedFile> => {
  const form = new FormData()
  form.append('file', file)
  return json<UploadedFile>(`files/${encodeURIComponent(tableNameOf(file.name))}`, { method: 'PUT', body: form })
}

/** The ways to begin: a file of one's own, a database, or a look around. */
export const Start = ({ done, isShort = false }: { done: () => void; isShort?: boolean }) => {
  const error = useSignal<ApiError | undefined>(undefined)
  const sending = useSignal<string | undefined>(undefined)
  const isOver = useSignal(false)
  const take = async (file: File | undefined) => {
    if (!file) return
    error.value = undefined
    sending.value = file.name
    try {
      const { name } = await upload(file)
      done()
      go(pathOf('resources', 'file', '-', name), { tab: 'rows' })
    } catch (refused) {
      error.value = asApiError(refused)
    } finally {
      sending.value = undefined
    }
  }
  const sample = async () => {
    error.value = undefined
    sending.value = 'the sample'
    try {
      await takeSample()
    } catch (refused) {
      error.value = asApiError(refused)
    } finally {
      sending.value = undefined
    }
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    isOver.value = false
    void take(event.dataTransfer?.files[0])
  }
  return (
    <>
      {!isShort && <p>Nothing is here yet. Bring rows, and predict from them.</p>}
      <div
        class={isOver.value ? 'drop over' : 'drop'}
        onDragOver={(event) => (event.preventDefault(), (isOver.value = true))}
        onDragLeave={() => (isOver.value = false)}
        onDrop={drop}
      >
        <label>
          <strong>Upload a file</strong>
          <span class="quiet">CSV, JSON or Parquet; drop it here, or choose it</span>
          <input
            type="file"
            accept=".csv,.tsv,.json,.jsonl,.parquet,.txt,.md"
            onChange={({ currentTarget }) => void take(currentTarget.files?.[0])}
          />
        </label>
        {sending.value !== undefined && <Busy what={`Reading ${sending.value}`} />}
      </div>
      {error.value && <Refusal error={error.value} />}
      {!isShort && (
        <ul class="cards">
          <li>
            <button type="button" class="card" onClick={() => void sample()}>
              <strong>Take a sample</strong>
              <span class="quiet">600 invented homes; train a model of their rents, and ask it for yours</span>
            </button>
          </li>
          <li>
            <a class="card" href={hrefOf('/connect')}>
              <strong>Connect a database</strong>
              <span class="quiet">PostgreSQL, MySQL and what speaks like them; its rows stay where they are</span>
            </a>
          </li>
          <li>
            <a
              class="card"
              href={hrefOf('/query', { sql: 'SELECT position, type, actor, recorded_at FROM log.events ORDER BY position DESC' })}
            >
              <strong>Look at the log</strong>
              <span class="quiet">Everything that happens is an event, and SQL reads them</span>
            </a>
          </li>
        </ul>
      )}
    </>
  )
}
