import { Empty } from '../../components/notice.js'
import { msText } from '../../components/value.js'
import { forgetAll, past, type PastStatement } from './statement-history.js'

const endOf = ({ ended, ms }: PastStatement): string =>
  ended === 'done' ? msText(ms) : ended === 'unanswered' ? 'may have been carried out' : ended

/** The statements that ran in this browser, the newest first. */
export const PastList = ({ choose }: { choose: (sql: string, db: string) => void }) =>
  past.value.length === 0 ? (
    <Empty title="Nothing yet">What you run is listed here. It is kept in this browser alone.</Empty>
  ) : (
    <>
      <ol class="past">
        {past.value.map((one) => (
          <li key={one.sql}>
            <button type="button" class="plain" onClick={() => choose(one.sql, one.db)}>
              <code>{one.sql}</code>
            </button>
            <span class="quiet">
              {endOf(one)} · {one.at.slice(0, 16).replace('T', ' ')}
            </span>
          </li>
        ))}
      </ol>
      <button type="button" onClick={forgetAll}>
        Forget all
      </button>
    </>
  )
