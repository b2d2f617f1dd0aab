import { Icon } from '../../components/icon.js'
import { bytesText } from '../../components/value.js'
import { download, fileFormats, notSavedAs, saving, type DownloadRequest } from './download.js'

/** Buttons that save the answer of a statement as a file, and the progress of the file. `wrong`: why the statement cannot run. */
export const Downloads = ({ asked, wrong }: { asked: DownloadRequest; wrong: string | undefined }) => {
  const under = saving.value
  return (
    <>
      {fileFormats.map((format) => {
        const reason = wrong ?? notSavedAs(format, asked.query, asked.isDryRun) ?? (under && 'Another file is being saved.')
        return (
          <button key={format} type="button" disabled={reason !== undefined} title={reason} onClick={() => void download(format, asked)}>
            <Icon name="down" /> {format}
          </button>
        )
      })}
      {under && (
        <>
          <p>
            <span role="status">Saving {under.format}…</span> {under.bytes > 0 && bytesText(under.bytes)}
          </p>
          <button type="button" onClick={under.cancel}>
            Cancel the file
          </button>
        </>
      )}
    </>
  )
}
