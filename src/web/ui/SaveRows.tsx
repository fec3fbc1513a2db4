import { useEffect, useRef, useState } from 'preact/hooks'
import { CallFailed } from '../client/rpc.js'
import { formatRows } from '../exportRows.js'
import { formatCount, formatPlural } from '../format.js'
import { download } from './download.js'
import { Failure } from './States.js'

interface SaveRowsProps {
  /** Name of the file, without its extension. */
  name: string
  /** A row in the singular. */
  noun: string
  /** Which rows a file has that is not complete: `the newest`. */
  part: string
  /** Reads the rows. It returns early when the signal is aborted. @throws CallFailed */
  read(
    signal: AbortSignal,
    onProgress: (rows: number) => void,
  ): Promise<{ rows: readonly { readonly [column: string]: unknown }[]; isAll: boolean }>
}

/** A button that loads rows and saves them as CSV. */
export function SaveRows({ name, noun, part, read }: SaveRowsProps) {
  const [loaded, setLoaded] = useState<number | undefined>()
  const [note, setNote] = useState('')
  const [problem, setProblem] = useState<CallFailed | undefined>()
  const current = useRef<AbortController | undefined>(undefined)
  useEffect(() => () => current.current?.abort(), [])
  const save = async () => {
    const own = new AbortController()
    current.current = own
    setProblem(undefined)
    setLoaded(0)
    try {
      const { rows, isAll } = await read(own.signal, setLoaded)
      if (own.signal.aborted) return setLoaded(undefined)
      download(name, formatRows(rows, 'csv'), 'csv')
      setNote(`${formatPlural(rows.length, noun)} saved${isAll ? '' : `, ${part}; cairn sql has all`}`)
    } catch (error) {
      setProblem(error instanceof CallFailed ? error : new CallFailed('call', String(error)))
    }
    setLoaded(undefined)
  }
  return (
    <div class="buttons">
      <span class="export">
        <span role="status">{loaded === undefined ? note : `loading, ${formatCount(loaded)} so far …`}</span>
        <button type="button" disabled={loaded !== undefined} onClick={() => void save()}>
          CSV
        </button>
        {loaded !== undefined && (
          <button type="button" onClick={() => current.current?.abort()}>
            Stop
          </button>
        )}
      </span>
      {problem !== undefined && <Failure error={problem} />}
    </div>
  )
}
