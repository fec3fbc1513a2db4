import { setTimeout as sleep } from 'node:timers/promises'
import { CairnError, messageOf } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import { describeUrl } from '../../sources/upstreams/describeUrl.js'
import type { Database } from '../../store/database.js'
import { openForReading } from '../../store/open.js'
import { StateLog } from '../../store/replication/stateLog.js'
import { isStateKnown } from '../../store/state/missingState.js'
import { createStateReader, LATEST, type StateReader } from '../../store/state/stateReader.js'
import { NoStateSource, StateFetchBusy, StateFetchTimeout, type WantedState } from '../../sync/sparse/stateOnDemand.js'
import type { StateKeys } from '../../trie/missingNodes.js'
import { streamUrl } from './connection.js'

// Requests to the writer at once, of all clients.
const MAX_WAITING = 256
const MAX_ANSWER_BYTES = 16 * 2 ** 20
// Between two looks whether the stream has brought the values.
const LOOK_MS = 5
/** A proof brings nothing where the trie had its nodes by then. */
const PROOF_MS = 1_000

interface RpcAnswer {
  readonly error?: { readonly message?: string }
}

/** Has the writer of a replica fetch state: ordinary requests for it make the writer store it, and it comes by the
 *  stream, verified as all of it. */
export class WriterState {
  private readonly url: URL
  private readonly datadir: string
  private opened: { db: Database; reader: StateReader; log: StateLog } | undefined
  private waiting = 0

  /** @param url of the writer, as of `--replica`: requests go to the same server, with the same key */
  constructor(url: string, datadir: string) {
    this.url = rpcUrl(url)
    this.datadir = datadir
  }

  /** Resolves when the values are stored here, with the number of accounts and slots that were asked for.
   *  @throws StateFetchBusy, StateFetchTimeout; CairnError with what the writer answers */
  async fetch({ keys, isProof, call, timeoutMs }: WantedState): Promise<number> {
    if (this.waiting >= MAX_WAITING) throw new StateFetchBusy(`${MAX_WAITING} requests wait for state from the writer`)
    this.waiting++
    const endMs = performance.now() + timeoutMs
    try {
      const { reader, log } = this.open()
      const { last } = log.bounds
      await this.ask(callsFor(keys, isProof), call, timeoutMs)
      const isStored = () => (isProof ? log.bounds.last > last : keys.every((each) => isKnown(reader, each)))
      const untilMs = isProof ? Math.min(endMs, performance.now() + PROOF_MS) : endMs
      while (!isStored() && performance.now() < untilMs) await sleep(LOOK_MS)
      if (!isProof && !isStored()) throw new StateFetchTimeout(timeoutMs, 'the writer has it, and the stream lags')
      return keys.reduce((sum, { slots }) => sum + 1 + slots.length, 0)
    } finally {
      this.waiting--
    }
  }

  /** Closes its connection to the database. */
  close(): void {
    this.opened?.db.close()
    this.opened = undefined
  }

  private open() {
    if (this.opened) return this.opened
    const db = openForReading(this.datadir)
    this.opened = { db, reader: createStateReader(db), log: new StateLog(db) }
    return this.opened
  }

  /** Sends the requests in a batch, after `call`, which makes the writer fetch all that it reads.
   *  @throws CairnError for an error of one of them */
  private async ask(requests: readonly object[], call: unknown, timeoutMs: number): Promise<void> {
    const hint = call === undefined ? [] : [{ jsonrpc: '2.0', id: -1, method: 'eth_call', params: [call, 'latest'] }]
    const name = describeUrl(this.url.href)
    let answers: (RpcAnswer & { id: number })[]
    try {
      const response = await fetch(this.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify([...hint, ...requests]),
        signal: AbortSignal.timeout(Math.ceil(timeoutMs)),
      })
      const text = await readText(response)
      const parsed = JSON.parse(text) as unknown
      if (!Array.isArray(parsed)) throw new CairnError(`HTTP ${response.status}: ${text.slice(0, 200)}`)
      answers = parsed as typeof answers
    } catch (error) {
      throw new CairnError(`the writer (${name}) does not send it: ${messageOf(error)}`, { cause: error })
    }
    const failed = answers.find(({ id, error }) => id >= 0 && error)
    if (failed) throw new CairnError(`the writer (${name}): ${String(failed.error?.message).slice(0, 500)}`)
  }
}

/** Requests whose answers need the values, or their proofs. */
function callsFor(keys: readonly StateKeys[], isProof: boolean): object[] {
  const calls = keys.flatMap(({ address, slots }) => {
    const [account, names] = [formatData(address), slots.map(formatData)]
    if (isProof) return [{ method: 'eth_getProof', params: [account, names, 'latest'] }]
    return [
      { method: 'eth_getBalance', params: [account, 'latest'] },
      ...names.map((slot) => ({ method: 'eth_getStorageAt', params: [account, slot, 'latest'] })),
    ]
  })
  return calls.map((each, id) => ({ jsonrpc: '2.0', id, ...each }))
}

function isKnown(reader: StateReader, { address, slots }: StateKeys): boolean {
  return isStateKnown(() => {
    const record = reader.account(address, LATEST)
    if (record?.account === undefined) return
    for (const slot of slots) reader.storage(record.addressId, record.incarnation, slot, LATEST)
  })
}

async function readText(response: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of response.body ?? []) {
    bytes += part.length
    if (bytes > MAX_ANSWER_BYTES) throw new CairnError(`more than ${MAX_ANSWER_BYTES} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function rpcUrl(text: string): URL {
  const url = streamUrl(text)
  const key = url.pathname.slice('/replication'.length)
  url.pathname = key === '' ? '/' : `/v3${key}`
  return url
}

/** What a replica of a stream answers where it cannot ask the writer. @throws NoStateSource */
export function noWriterState(): Promise<never> {
  return Promise.reject(
    new NoStateSource(
      'the writer never needed it; ask the writer for it once, or name it with --replica-http, so that this replica can',
    ),
  )
}
