import { Icon } from '../../components/icon.js'
import { bytesText } from '../../components/value.js'
import { download, fileFormats, isWritable, notSavedAs, saving, type DownloadRequest } from './download.js'
import type { RowStore } from './answer/rows.js'

type Props = {
  asked: DownloadRequest
  /** Why the statement cannot run. */
  wrong: string | undefined
  /** Its answer, if all of it is here. */
  answer: RowStore | undefined
}

/** Buttons that save the answer of a statement as a file, and the progress of the file. */
export const Downloads = ({ asked, wrong, answer }: Props) => {
  const under = saving.value
  return (
    <>
      {fileFormats.map((format) => {
        const reason = wrong ?? notSavedAs(format, asked.query, asked.isDryRun)
        return (
          <button
            key={format}
            type="button"
            disabled={reason !== undefined}
            // A button that is disabled loses the focus.
            aria-disabled={under !== undefined}
            title={
              reason ??
              (under && 'Another file is being saved.') ??
              (answer && isWritable(format) ? 'Saves the answer that is here.' : 'Runs the statement for the file.')
            }
            onClick={() => void download(format, asked, answer)}
          >
            <Icon name="down" /> {format}
          </button>
        )
      })}
      {/* It is always there, because only a change of its text is read out. */}
      <span role="status">{under && `Saving ${under.format}…`}</span>
      {under && (
        <>
          {under.bytes > 0 && <span>{bytesText(under.bytes)}</span>}
          <button type="button" onClick={under.cancel}>
            Cancel the file
          </button>
        </>
      )}
    </>
  )
}
