import { useIsShown, useSending } from '../../basics/loading.js'
import { goToMade, hrefOf, momentShown } from '../../basics/place.js'
import { Busy, Refusal } from '../../components/notice.js'
import { sampleHomes } from './sample.js'
import { freeNameLike, upload } from './upload-queue.js'
import { Uploads } from './uploads.js'

/** Uploads a table of invented homes, and returns its name. */
const takeSample = async (): Promise<string> => {
  const name = await freeNameLike('homes')
  await upload(new File([sampleHomes()], 'homes.csv', { type: 'text/csv' }), name)
  return name
}

/** The ways to begin: with a file of the user, a database, or sample data. */
export const Start = ({ done, isShort = false }: { done: () => void; isShort?: boolean }) => {
  const { send, isSending, error } = useSending()
  const isShown = useIsShown()
  const sample = () =>
    send(async () => {
      const name = await takeSample()
      if (isShown()) goToMade('/models/new', { table: `files.${name}`, target: 'rent', name: 'rent' })
    })
  return (
    <>
      {!isShort && <p>Nothing is here yet. Bring rows, and predict from them.</p>}
      {momentShown() !== undefined && (
        <p class="notice" role="status">
          What you add here is added now. The rest of this page shows the moment that you chose.
        </p>
      )}
      <Uploads done={done} />
      {isSending && <Busy what="Reading the sample" />}
      {error && <Refusal error={error} />}
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
