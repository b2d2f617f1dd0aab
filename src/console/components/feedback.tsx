import { useSignal } from '@preact/signals'
import { json } from '../api/request.js'
import { select } from '../api/sql.js'
import { useDraft } from '../basics/drafts.js'
import { useLoaded, useSending } from '../basics/loading.js'
import { Refusal } from './notice.js'
import { Restored } from './restored.js'

type Verdict = 'good' | 'bad'
type Judgement = { verdict: Verdict; comment: string | null; readable: boolean; actor: string; recorded_at: string; is_own: boolean }

/** The last verdict of each user on an answer, the oldest first. @throws ApiError */
const loadJudgements = (answer: string, at: string | undefined, signal: AbortSignal): Promise<Judgement[]> =>
  select<Judgement>({
    query: `SELECT verdict, comment, readable, actor, recorded_at, concat(actor, '@localhost') = current_user AS is_own
      FROM log.answer_judgements WHERE answer_id = :answer AND replaced_by IS NULL ORDER BY position`,
    params: { answer },
    ...{ at, signal },
  })

const titles: Readonly<Record<Verdict, string>> = { good: 'Good answer', bad: 'Bad answer' }

const Given = ({ judgements }: { judgements: readonly Judgement[] }) => (
  <ul class="verdicts" aria-label="Verdicts">
    {judgements.map(({ verdict, comment, readable, actor, recorded_at: time }) => (
      <li key={actor}>
        <strong class={verdict === 'bad' ? 'bad' : undefined}>{titles[verdict]}</strong>{' '}
        <span class="quiet">
          {actor}, {time.slice(0, 16)} UTC
        </span>
        {readable ? comment !== null && <p>{comment}</p> : <p class="quiet">The comment was erased.</p>}
      </li>
    ))}
  </ul>
)

type Props = {
  /** The path of the answer in the API. */
  path: string
  /** The id of the answer. */
  answer: string
  /** The moment whose verdicts are shown. A verdict is given only now. */
  at?: string | undefined
}

/** The verdicts on an answer, and the own one, which can be given with a comment and changed. */
export const Feedback = ({ path, answer, at }: Props) => {
  const { loaded, reload } = useLoaded((signal) => loadJudgements(answer, at, signal), [answer, at])
  const { found, type, drop } = useDraft(`comment on ${answer}`)
  const written = useSignal<string | undefined>(found?.texts['comment'])
  const { send, isSending, error } = useSending()
  const { value: judgements = [], error: refused } = loaded.value
  const own = judgements.find(({ is_own: isOwn }) => isOwn)
  const comment = written.value ?? own?.comment ?? ''
  const judge = (verdict: Verdict) =>
    send(async () => {
      await json(`${path}/feedback`, { method: 'POST', body: { verdict, ...(comment.trim() !== '' && { comment: comment.trim() }) } })
      drop()
      reload()
    })
  const write = (text: string) => {
    written.value = text
    type(text === '' ? {} : { comment: text })
  }
  const discard = () => {
    drop()
    written.value = undefined
  }
  return (
    <div class="feedback">
      {at === undefined && found && <Restored draft={found} discard={discard} />}
      {at === undefined && (
        <div class="row">
          <input
            aria-label="Comment on the answer"
            placeholder="Why, if you like"
            value={comment}
            onInput={({ currentTarget }) => write(currentTarget.value)}
          />
          {(['good', 'bad'] as const).map((verdict) => (
            <button
              key={verdict}
              type="button"
              aria-pressed={own?.verdict === verdict}
              // A verdict without a comment would take the place of one that is not loaded yet.
              disabled={isSending || (loaded.value.value === undefined && written.value === undefined)}
              onClick={() => void judge(verdict)}
            >
              {titles[verdict]}
            </button>
          ))}
        </div>
      )}
      {judgements.length > 0 && <Given judgements={judgements} />}
      {error && <Refusal error={error} />}
      {refused && <Refusal error={refused} again={reload} />}
    </div>
  )
}
