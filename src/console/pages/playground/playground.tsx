/** Room: the page that asks agents. It imports only console/api, console/basics, console/components and console/lists. */

import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { useDraft } from '../../basics/drafts.js'
import { useIsShown, useLoaded } from '../../basics/loading.js'
import { changeQuery, hrefOf, momentShown, pathOf, place } from '../../basics/place.js'
import { withoutSecrets } from '../../basics/secrets.js'
import { Busy, Empty, Refusal } from '../../components/notice.js'
import { searchOf, useOptions, type SearchOptions } from '../../lists/choices.js'
import { SearchChoice } from '../../lists/search-choice.js'
import { AnswerCard } from './answer-card.js'
import { conversationAt, isSame, type Address } from './conversation.js'
import { LiveAnswer, type Side } from './live-answer.js'
import { loadRounds, turnsOf } from './rounds.js'
import { VersionChoice } from './version-choice.js'
import './style.css'

/** The pause in typing before the question is stored in the address, in milliseconds. */
const restMs = 300

const sideOf = (text: string | null, asOf: string | undefined): Side | undefined => {
  const [project = '', ...rest] = (text ?? '').split('/')
  return rest.length === 0 ? undefined : { project, agent: rest.join('/'), asOf: asOf === 'now' ? undefined : asOf }
}

/** The search in the agents of a moment, whose values are as the address has them. */
const agentSearch = (at: string | undefined): SearchOptions =>
  searchOf({
    query: `SELECT project || '/' || name AS value, project || '.' || name AS name FROM log.resources WHERE kind = 'agent'`,
    at,
  })

/** The name of an agent that is in an address. */
const nameOf = (value: string): string => value.replace('/', '.')

/** Asks agents, and shows their steps. The user can compare two agents, or two versions of one agent. */
export default () => {
  const moment = momentShown()
  const { query } = place.value
  const search = useMemo(() => agentSearch(moment), [moment])
  const { loaded, reload } = useOptions(search, [moment])
  const { found: draft, type } = useDraft('question')
  const question = useSignal(query.get('question') ?? draft?.texts['question'] ?? '')
  const isVersionAsked = useSignal(false)
  const resting = useRef<ReturnType<typeof setTimeout>>(undefined)
  const sent = query.get('question') ?? ''
  /** The question that this page itself has put into the address. */
  const ours = useRef(sent)
  const { value: agents, error } = loaded.value
  const chosen = [sideOf(query.get('agent'), moment), sideOf(query.get('beside'), query.get('beside_at') ?? moment)]
  const sides = chosen.filter((side) => side !== undefined)
  const said = (name: string): string => query.get(name) ?? ''
  // The answers of another moment stay in the address, for the way back to it, until this one has its own.
  const answers = said('answers_at') === (moment ?? '') ? said('answers') : ''
  const address: Address = { agent: said('agent'), beside: said('beside'), beside_at: said('beside_at'), answers }
  const conversation = conversationAt(moment)
  // The conversation of this window goes on. After a reload, or in the window of a colleague, it comes from its records.
  const { loaded: restored, reload: restore } = useLoaded(
    async (signal) => {
      const kept = conversation.address
      if (conversation.isOf(address)) conversation.show(address)
      else if (kept && answers === '' && (sides.length === 0 || isSame(address, kept))) changeQuery({ ...kept, answers_at: moment })
      else {
        const found = await loadRounds(answers, sides, signal)
        signal.throwIfAborted()
        conversation.show(address, found)
      }
    },
    [...Object.values(address), moment],
  )
  const rounds = conversation.isOf(address) ? conversation.rounds.value : []
  const isShown = useIsShown()
  const isAsking = rounds.some(({ askings }) => askings.some(({ said }) => said.value.state === 'asking'))
  const isBusy = restored.value.isLoading || isAsking
  useEffect(() => {
    const now = conversation.address?.answers ?? ''
    if (!isBusy && rounds.length > 0 && now !== '' && now !== answers) changeQuery({ answers: now, answers_at: moment })
  })
  /** Browsers limit how often the address may change, so it does not change with every key. */
  const write = (text: string, afterMs = restMs) => {
    question.value = text
    type(text === '' ? {} : { question: text })
    clearTimeout(resting.current)
    resting.current = setTimeout(() => {
      ours.current = withoutSecrets(text)
      changeQuery({ question: ours.current })
    }, afterMs)
  }
  // A link to another question shows that question. One without a question takes nothing away. In the next frame it would take back what
  // was typed before.
  useLayoutEffect(() => {
    if (sent === ours.current) return
    ours.current = sent
    if (sent === '') return
    clearTimeout(resting.current)
    question.value = sent
  }, [sent])
  // After leaving this page, the address must not get a question.
  useLayoutEffect(() => () => clearTimeout(resting.current), [])
  const choose = (change: Record<string, string | undefined>) => {
    // A new agent does not know the previous turns.
    conversation.clear()
    changeQuery({ answers: undefined, answers_at: undefined, ...change })
  }
  const ask = (event: SubmitEvent) => {
    event.preventDefault()
    const text = question.value.trim()
    if (text === '' || isBusy || sides.length === 0) return
    const askings = sides.map((side) => new LiveAnswer(side))
    conversation.show(address, [...rounds, { question: text, askings }])
    write('', 0)
    void Promise.all(askings.map((asking, side) => asking.ask(turnsOf(rounds, side, text)))).then(() => {
      if (!isShown()) return
      // A question without any answer can be asked again.
      if (question.peek() === '' && askings.every((asking) => asking.isUnheard)) write(text, 0)
    })
  }
  return (
    <>
      <div class="title">
        <h1>Ask an agent</h1>
        <div class="row">
          {rounds.length > 0 && (
            <button type="button" onClick={() => choose({})}>
              New conversation
            </button>
          )}
          <a class="button" href={hrefOf('/answers')}>
            Answers so far
          </a>
        </div>
      </div>
      {error && <Refusal error={error} again={reload} />}
      {!agents && !error && <Busy />}
      {agents?.all === 0 && (
        <Empty title="No agents here">
          <p>An agent answers questions by a language model, with tools that read your tables.</p>
          <a href={hrefOf(pathOf('new', 'agent'))}>Make one</a>
        </Empty>
      )}
      {agents && agents.all > 0 && (
        <>
          <div class="row sides">
            <SearchChoice
              label="Agent"
              value={query.get('agent') ?? ''}
              choose={(agent) => choose({ agent })}
              {...{ found: agents, search, nameOf }}
              none="Choose…"
            />
            <SearchChoice
              label="Beside it"
              value={query.get('beside') ?? ''}
              choose={(beside) => choose({ beside, beside_at: undefined })}
              {...{ found: agents, search, nameOf }}
              none="nobody"
            />
            {chosen[0] && !chosen[1] && (
              <button
                type="button"
                onClick={() => {
                  isVersionAsked.value = true
                  choose({ beside: query.get('agent') ?? '', beside_at: undefined })
                }}
              >
                Another version of it
              </button>
            )}
            {chosen[1] && (
              <VersionChoice
                side={chosen[1]}
                value={query.get('beside_at') ?? ''}
                moment={moment}
                isAsked={isVersionAsked.value}
                choose={(version) => choose({ beside_at: version })}
              />
            )}
          </div>
          {restored.value.error && <Refusal error={restored.value.error} again={restore} />}
          {restored.value.isLoading && answers !== '' && <Busy />}
          <ol class="rounds" aria-label="Conversation">
            {rounds.map(({ question: text, askings }, i) => (
              <li key={i}>
                <p class="question">{text}</p>
                <div class={askings.length > 1 ? 'beside' : undefined}>
                  {askings.map((asking, side) => (
                    <AnswerCard key={side} asking={asking} />
                  ))}
                </div>
              </li>
            ))}
          </ol>
          <form class="ask" onSubmit={ask}>
            <label>
              Question
              <textarea
                rows={2}
                value={question.value}
                onInput={({ currentTarget }) => write(currentTarget.value)}
                onKeyDown={(event) => {
                  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
                  event.preventDefault()
                  event.currentTarget.form?.requestSubmit()
                }}
              />
            </label>
            <button type="submit" class="primary" disabled={isBusy || sides.length === 0 || question.value.trim() === ''}>
              Ask
            </button>
          </form>
          <p class="quiet">Each answer is recorded, with what it rests on, before it is given.</p>
        </>
      )}
    </>
  )
}
