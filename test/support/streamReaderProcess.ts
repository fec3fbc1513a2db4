import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { TextRow } from './chains/exportedFiles.js'
import { askStream, type StreamEnd } from './streamClient.js'

/* A client of a stream in a process of its own: `node streamReaderProcess.js URL FILE`. It keeps the logs that it has
   read, and the end of the last response, in one file, which it replaces; killed at any moment, it resumes from that. */

const [url, path] = process.argv.slice(2)
const MAX_BYTES = 200_000
const RETRY_MS = 100

interface Kept {
  logs: TextRow[]
  end?: StreamEnd
}

const kept: Kept = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Kept) : { logs: [] }
while (kept.end === undefined || kept.end.nextBlock <= kept.end.head!.number) {
  const from = kept.end?.nextBlock ?? 0
  try {
    const { status, rows, end } = await askStream(url, {
      from,
      recent: kept.end?.recent,
      logs: [{}],
      maxBytes: MAX_BYTES,
    })
    if (status !== 200 || end === undefined) throw new Error(`${status}`)
    kept.logs.push(...(rows.log ?? []))
    kept.end = end
    writeFileSync(`${path}.new`, JSON.stringify(kept))
    renameSync(`${path}.new`, path)
    process.stdout.write(`read ${kept.logs.length}\n`)
  } catch {
    // The server is away, or has not seen yet that the client before is.
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
  }
}
process.stdout.write('done\n')
