import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { pathOfResource } from '../../basics/kinds.js'
import { goToMade } from '../../basics/place.js'
import { Busy, Refusal } from '../../components/notice.js'
import { uploads, type Clash, type Sending } from './upload-queue.js'

/** Asks whether the table gets new content or the file gets another name. */
const ClashForm = ({ clash: { file, name, free } }: { clash: Clash }) => {
  const other = useSignal(free)
  return (
    <form
      class="card"
      onSubmit={(event) => {
        event.preventDefault()
        void uploads.goOn(file, other.value.trim())
      }}
    >
      <p role="alert">
        There is a table <strong>{name}</strong> already. Is {file.name} a new table, or new rows for {name}?
      </p>
      <label>
        Name of a new table
        <input value={other.value} required onInput={({ currentTarget }) => (other.value = currentTarget.value)} />
      </label>
      <p class="tools">
        <button type="submit" class="primary">
          A new table
        </button>
        <button type="button" onClick={() => void uploads.goOn(file, name, true)} title="Its earlier contents stay in its history">
          New rows for {name}
        </button>
        <button type="button" onClick={() => void uploads.leaveOut()}>
          Leave it out
        </button>
      </p>
    </form>
  )
}

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

/** Uploads files that are dropped or chosen, and shows the uploads of this window. */
export const Uploads = ({ done }: { done: () => void }) => {
  const isOver = useSignal(false)
  // The last table is shown, unless there is a refusal to read; also if it is made before the next frame, and not after the page was left.
  useLayoutEffect(
    () =>
      uploads.show((name) => {
        done()
        if (uploads.refused.peek().length === 0) goToMade(pathOfResource('file', null, name), { tab: 'rows' })
      }),
    [],
  )
  // Beside the box, the browser would leave the console and open the file. It would also do so for a drop before the next frame.
  useLayoutEffect(() => {
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
      uploads.take(event.dataTransfer?.files ?? [])
    })
    return () => ending.abort()
  }, [])
  const clash = uploads.clash.value
  const sending = uploads.sending.value
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
            onChange={({ currentTarget }) => (uploads.take(currentTarget.files ?? []), (currentTarget.value = ''))}
          />
        </label>
        {sending && <SendingState sending={sending} />}
      </div>
      {clash && <ClashForm key={clash.file.name} clash={clash} />}
      {uploads.refused.value.map((error, i) => (
        <Refusal key={i} error={error} />
      ))}
    </>
  )
}
