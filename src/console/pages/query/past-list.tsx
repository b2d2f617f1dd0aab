import { Empty } from '../../components/notice.js'
import { msText } from '../../components/value.js'
import { forgetAll, past } from './statement-history.js'

/** The statements that ran in this browser, the newest first. */
export const PastList = ({ choose }: { choose: (sql: string, db: string) => void }) =>
  past.value.length === 0 ? (
    <Empty title="Nothing yet">What you run is listed here. It is kept in this browser alone.</Empty>
  ) : (
    <>
      <ol class="past">
        {past.value.map(({ sql, db, at, ended, ms }) => (
          <li key={sql}>
            <button type="button" class="plain" onClick={() => choose(sql, db)}>
              <code>{sql}</code>
            </button>
            <span class="quiet">
              {ended === 'done' ? msText(ms) : ended} · {at.slice(0, 16).replace('T', ' ')}
            </span>
          </li>
        ))}
      </ol>
      <button type="button" onClick={forgetAll}>
        Forget all
      </button>
    </>
  )
