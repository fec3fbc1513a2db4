import { CairnError, messageOf } from '../../lib/errors.js'
import { formatData } from '../../lib/hex.js'
import { type Clock, systemClock } from '../../sources/upstreams/clock.js'
import { describeUrl } from '../../sources/upstreams/describeUrl.js'
import type { StateMode } from '../../sync/chainState.js'
import type { PositionedUnit, ReplicaPlace, ReplicationSource, ReplicationUnit } from '../codec/types.js'
import { InvalidMessage } from '../errors.js'
import { createKnownBlocks, type KnownBlocks } from '../knownBlocks.js'
import { openFrames } from './connection.js'
import { ReplicationGone, ReplicationRefused } from './errors.js'
import { FRAME_FORMAT, type FrameHead, SPARSE_FRAME_FORMAT } from './frames.js'
import { createUnitAssembler } from './unitAssembler.js'

/** Options of `createHttpSource`. */
export interface HttpSourceOptions {
  /** URL of the server, with the API key as path if it requires one. */
  readonly url: string
  /** The chain that the server must have; the hash of block 0 has 32 bytes. `stateMode`: how the replica keeps state.
   *  Default: complete. */
  readonly chain: { readonly chainId: bigint; readonly genesisHash: Uint8Array; readonly stateMode?: StateMode }
  /** Called with the reason on disconnect, null on reconnect. */
  onProblem?(problem: string | null): void
  /** Called for every frame that arrives, heartbeats included. */
  onActivity?(): void
  /** Time and timers, for tests. */
  readonly clock?: Clock
}

// Delay after a lost connection, doubled each time that no frame arrived.
const FIRST_RETRY_MS = 250
const MAX_RETRY_MS = 15_000

/** Over HTTP only the blocks themselves matter. */
const POSITION = { stream: 'http', sequence: 0, epoch: 0 }

/** Creates a source of the changes of another server's chain. It reconnects forever when the connection is lost or
 *  the server is busy. Otherwise `units` throws ReplicationRefused when the server refuses, InvalidMessage for
 *  frames that are damaged or out of order. */
export function createHttpSource(options: HttpSourceOptions): ReplicationSource {
  const { url, clock = systemClock, onProblem = () => {}, onActivity = () => {} } = options
  const name = describeUrl(url)
  return {
    async *units({ locator, state }: ReplicaPlace, signal: AbortSignal): AsyncGenerator<PositionedUnit> {
      const place: Place = { blocks: createKnownBlocks(locator), state }
      let retryMs = FIRST_RETRY_MS
      while (!signal.aborted) {
        try {
          for await (const unit of readUnits(options, place, signal)) {
            retryMs = FIRST_RETRY_MS
            onProblem(null)
            onActivity()
            if (unit === undefined) continue
            if (unit.kind === 'blocks') place.blocks.add(unit)
            place.state = unit.state?.after ?? place.state
            yield { unit, position: POSITION }
          }
          onProblem(`${name}: the server ended the stream`)
        } catch (error) {
          if (signal.aborted) return
          if (!isTransientError(error)) throw error
          onProblem(`${name}: ${messageOf(error)}`)
        }
        await clock.sleep(retryMs, signal).catch(() => {}) // aborted: the loop ends
        retryMs = Math.min(2 * retryMs, MAX_RETRY_MS)
      }
    },
  }
}

/** True for a server that is busy or starting, and for network errors. */
function isTransientError(error: unknown): boolean {
  if (error instanceof ReplicationRefused)
    return error.status !== undefined && (error.status >= 500 || error.status === 429)
  if (error instanceof InvalidMessage || error instanceof ReplicationGone) return false
  return error instanceof CairnError || typeof (error as NodeJS.ErrnoException | null)?.code === 'string'
}

/** What the replica has and was sent. */
interface Place {
  readonly blocks: KnownBlocks
  /** With sparse state: the newest entry. */
  state: number | undefined
}

/** Yields the change sets of one connection; undefined for a frame that completes none. */
async function* readUnits(
  { url, chain }: HttpSourceOptions,
  place: Place,
  signal: AbortSignal,
): AsyncGenerator<ReplicationUnit | undefined> {
  const { blocks } = place
  const assembler = createUnitAssembler(blocks.top)
  let isFirst = true
  const state = chain.stateMode === 'none' ? 'none' : place.state
  for await (const frame of openFrames(url, { locator: blocks.locator(), state }, signal)) {
    if (isFirst) requireChain(describeUrl(url), frame.head, chain)
    yield isFirst ? undefined : assembler.take(frame)
    isFirst = false
  }
}

function requireChain(name: string, head: FrameHead, { chainId, genesisHash }: HttpSourceOptions['chain']): void {
  if (head.format !== FRAME_FORMAT && head.format !== SPARSE_FRAME_FORMAT) {
    const expected = `${FRAME_FORMAT} or ${SPARSE_FRAME_FORMAT}`
    const advice = (head.format ?? 0) > SPARSE_FRAME_FORMAT ? ': the server is newer, upgrade this replica' : ''
    throw new ReplicationRefused(name, undefined, `expected frames of format ${expected}, got ${head.format}${advice}`)
  }
  if (head['chain-id'] !== String(chainId)) {
    throw new ReplicationRefused(name, undefined, `expected chain ${chainId}, got ${head['chain-id']}`)
  }
  const genesis = formatData(genesisHash)
  if (head.genesis === null || head.genesis === genesis) return // null: it starts at a later block
  throw new ReplicationRefused(name, undefined, `expected the genesis ${genesis}, got ${head.genesis}`)
}
