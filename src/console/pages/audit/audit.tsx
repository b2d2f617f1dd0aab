/**
 * Room: the page that checks the log, and erases data. It imports only console/api, console/basics, console/components and console/lists.
 */

import { useSignal } from '@preact/signals'
import type { ApiError } from '../../api/request.js'
import { apiUrl } from '../../api/url.js'
import { asApiError, useLoaded } from '../../basics/loading.js'
import { changeQuery, hrefOf, place } from '../../basics/place.js'
import { saveFile } from '../../basics/save-file.js'
import { Busy, Empty, Refusal } from '../../components/notice.js'
import { canCheck, checkEvent, checkKept, loadHead, type Finding } from './checks.js'
import { Erasures } from './erasures.js'
import { parseHeads, type Head } from './head.js'
import { forget, keep, keptHeads, type LocalHead } from './kept-heads.js'
import './style.css'

const base64Of = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))

const Verdict = ({ finding: { isProven, says } }: { finding: Finding }) => (
  <span class={isProven === undefined ? 'quiet' : isProven ? 'good' : 'bad'}>
    <strong>{isProven === undefined ? 'Not checked' : isProven ? 'Proven' : 'BROKEN'}</strong> {says}
  </span>
)

const KeptHead = ({ kept, newest, remove }: { kept: LocalHead; newest: Head; remove: () => void }) => {
  const { loaded, reload } = useLoaded((signal) => checkKept(kept, newest, signal), [kept.head.signed, newest.signed])
  const { value, error } = loaded.value
  return (
    <li>
      <span>
        <strong>{kept.head.size.toLocaleString('en')}</strong> events · kept {kept.keptAt.slice(0, 16).replace('T', ' ')}
      </span>
      <span role="status">
        {value && <Verdict finding={value} />}
        {!value && !error && <Busy what="Checking" />}
        {error && <Refusal error={error} again={reload} />}
      </span>
      <button type="button" aria-label={`Forget the head of ${kept.head.size} events`} onClick={remove}>
        Forget
      </button>
    </li>
  )
}

/** Saves the kept heads as a file that `mindledger verify --head` reads. */
const save = (heads: readonly LocalHead[]): void => {
  const notes = heads.map(({ head }) => `${head.note}\n`)
  saveFile(new Blob(notes, { type: 'text/plain' }), 'heads.txt')
}

const Heads = ({ head, signKey, isSigned }: { head: Head; signKey: string; isSigned: boolean | undefined }) => {
  const error = useSignal<ApiError | undefined>(undefined)
  const attempt = async (act: () => void | Promise<void>) => {
    try {
      await act()
      error.value = undefined
    } catch (refused) {
      error.value = asApiError(refused)
    }
  }
  const localHead = (one: Head, isFromFile: boolean): LocalHead => ({
    head: one,
    key: signKey,
    keptAt: new Date().toISOString(),
    isFromFile,
  })
  const take = async (file: File) => keep(parseHeads(await file.text()).map((one) => localHead(one, true)))
  const kept = keptHeads.value
  return (
    <section aria-label="Heads">
      <h2>Is it still the same log?</h2>
      <p>
        A head says how many events the log has and what they add up to. Keep one here, and this page checks at each visit that nothing
        before it was changed, by itself and without believing the service.
      </p>
      <dl class="fields">
        <div>
          <dt>events now</dt>
          <dd>{head.size.toLocaleString('en')}</dd>
        </div>
        <div>
          <dt>root</dt>
          <dd>
            <code>{base64Of(head.root)}</code>
          </dd>
        </div>
        <div>
          <dt>signature</dt>
          <dd class={isSigned === undefined ? undefined : isSigned ? 'good' : 'bad'}>
            {isSigned === undefined
              ? 'This browser cannot check it.'
              : isSigned
                ? 'It is of the key of this service.'
                : 'It is NOT of the key of this service.'}
          </dd>
        </div>
      </dl>
      <div class="tools">
        <button type="button" class="primary" onClick={() => void attempt(() => keep([localHead(head, false)]))}>
          Keep this head
        </button>
        <button type="button" disabled={kept.length === 0} onClick={() => save(kept)}>
          Save as a file
        </button>
        <label class="button">
          Take from a file
          <input
            class="hidden"
            type="file"
            accept=".txt,text/plain"
            onChange={({ currentTarget }) => {
              const file = currentTarget.files?.[0]
              if (file) void attempt(() => take(file))
            }}
          />
        </label>
      </div>
      {error.value && <Refusal error={error.value} />}
      {kept.length === 0 ? (
        <p class="quiet">No head is kept in this browser yet.</p>
      ) : (
        <ul class="kept">
          {kept.map((one) => (
            <KeptHead key={one.head.signed} kept={one} newest={head} remove={() => void attempt(() => forget(one.head))} />
          ))}
        </ul>
      )}
    </section>
  )
}

const OneEvent = ({ position, head }: { position: number; head: Head }) => {
  // A head that was kept earlier proves more, because the service cannot replace it.
  const kept = keptHeads.value.find((one) => one.head.log === head.log && one.head.size >= position)
  const against = kept?.head ?? head
  const isReplaced = keptHeads.value.some((one) => one.head.log !== head.log && !one.isFromFile)
  const { loaded, reload } = useLoaded((signal) => checkEvent(position, against, signal), [position, against.signed])
  const { value, error } = loaded.value
  if (error) return <Refusal error={error} again={reload} />
  if (!value) return <Busy what="Checking" />
  return (
    <>
      <p role="status">
        <Verdict finding={value} />{' '}
        <span class="quiet">
          {kept ? 'Checked against a head that this browser keeps.' : 'Checked against the newest head of the service.'}
        </span>
        {isReplaced && <span class="bad"> A head that was kept at this address is of another log: this one took its place.</span>}
      </p>
      <pre class="card event-text" tabIndex={0} role="region" aria-label="Text of the event">
        {value.text}
      </pre>
    </>
  )
}

const Prove = ({ head }: { head: Head }) => {
  const asked = place.value.query.get('event')
  const choose = (event: SubmitEvent) => {
    event.preventDefault()
    const position = new FormData(event.currentTarget as HTMLFormElement).get('position')
    changeQuery({ event: typeof position === 'string' ? position : undefined }, { replace: false })
  }
  return (
    <section aria-label="An event">
      <h2>Is this event in the log?</h2>
      <form class="tools" onSubmit={choose}>
        <label class="inline">
          <span>Position</span>
          <input name="position" type="number" min={1} max={head.size} required defaultValue={asked ?? ''} key={asked} />
        </label>
        <button type="submit">Prove it</button>
      </form>
      {asked !== null && /^\d{1,15}$/.test(asked) && <OneEvent position={Number(asked)} head={head} />}
    </section>
  )
}

const Export = () => (
  <section aria-label="For an auditor">
    <h2>For an auditor</h2>
    <p>Whoever checks the log elsewhere needs the export, the verifier, and the key by another way than this one.</p>
    <div class="tools">
      <a class="button" href={apiUrl('log/export').href} download="export.jsonl">
        Export of everything
      </a>
      <a class="button" href={apiUrl('log/verifier').href} download="verifier.mjs">
        Verifier
      </a>
      <a class="button" href={apiUrl('log/key').href} download="key.txt">
        Key
      </a>
      <a class="button" href={hrefOf('/compare')}>
        Compare two moments
      </a>
    </div>
    <pre class="card">node verifier.mjs export.jsonl --vkey key.txt --head heads.txt</pre>
  </section>
)

/** Checks of the log that run in the page itself, and files for auditors. */
export default () => {
  const { loaded, reload } = useLoaded(loadHead, [])
  const { value, error } = loaded.value
  return (
    <>
      <h1>Audit</h1>
      {!canCheck() && (
        <Empty title="This browser cannot check here">
          <p>It hashes only for pages that come over HTTPS or from this machine. Serve the console over HTTPS.</p>
        </Empty>
      )}
      {error && <Refusal error={error} again={reload} />}
      {!value && !error && <Busy />}
      {value && canCheck() && (
        <>
          <Heads head={value.head} signKey={value.key} isSigned={value.isSigned} />
          <Prove head={value.head} />
        </>
      )}
      <Erasures />
      <Export />
    </>
  )
}
