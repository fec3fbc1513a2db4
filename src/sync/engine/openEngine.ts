import { familyOf } from '../../chain/eth/families/families.js'
import type { ChainSpec } from '../../chain/eth/forks/rules.js'
import { messageOf, UsageError } from '../../lib/errors.js'
import { monotonicMs } from '../../lib/progressDisplay.js'
import type { EthRpc } from '../../sources/ethRpc/types.js'
import { systemClock } from '../../sources/upstreams/clock.js'
import { parseUpstreamAddress } from '../../sources/upstreams/describeUrl.js'
import type { WritableChain } from '../chainState.js'
import {
  createStateFetching,
  type FollowerParts,
  type FollowSettings,
  type OpenFollower,
  openChainRpc,
  openChainWriter,
} from '../follow/runFollower.js'
import { createFollowFigures } from '../follow/status.js'
import { describeStop } from '../follow/stopped.js'
import { IdleWork } from '../idleWork.js'
import { type OpenWriter, whenUnlocked } from '../openWriter.js'
import { EngineChain } from './engineChain.js'
import type { EngineFigures } from './engineFigures.js'
import { callEngine } from './engineMethods.js'
import { type EngineReason, EngineRefusal } from './errors.js'
import { GapFiller } from './gapFiller.js'

/** The answer to a request: its result as JSON, or why it is refused. */
export type EngineReply =
  | { readonly result: unknown; readonly refused?: undefined }
  | { readonly refused: { readonly reason: EngineReason; readonly message: string } }

/** A database that a consensus client drives. */
export interface OpenEngine extends OpenFollower {
  /** Answers a method of the Engine API. Never rejects. */
  call(method: string, params: unknown): Promise<EngineReply>
}

// Consensus clients send at least a fork choice in each slot of 12 s.
const SILENT_MS = 60_000
const RETRY_MS = 1000

/** @throws UsageError for a chain that no consensus client drives through the Engine API, or through another form of
 *  it */
function requireEngineApi(spec: ChainSpec): void {
  const { engineApi, title } = familyOf(spec)
  if (engineApi === undefined) return
  throw new UsageError(
    engineApi === 'own'
      ? `--engine: Cairn does not have the Engine API of ${title}; follow its execution client with --upstream`
      : `--engine: no consensus client drives ${title}; follow a node with --upstream`,
  )
}

/** Opens the database of `settings.datadir`, creating it if missing, for a consensus client. Upstreams fill gaps, and
 *  have the state that sparse state lacks. @throws UsageError for settings that do not go together, and as
 *  `openWritableChain`; DatabaseLocked */
export async function openEngine(settings: FollowSettings, parts: FollowerParts): Promise<OpenEngine> {
  const { log, signal, clock = systemClock } = parts
  for (const address of settings.upstreams) parseUpstreamAddress(address)
  let writer: OpenWriter | undefined = await openChainWriter(settings, parts)
  const figures = createFollowFigures()
  const counts = createCounts()
  let rpc: EthRpc | undefined
  try {
    requireEngineApi(writer.chain.spec)
    rpc = await openRpc(writer.chain, settings, parts)
  } catch (error) {
    writer.close()
    throw error
  }
  const state = rpc && createStateFetching(rpc, settings, { signal, clock })
  const createSession = ({ chain }: OpenWriter) => {
    state?.connect(chain)
    return new Session(chain, { settings, parts, rpc, seen: (number) => figures.sees(number) })
  }
  let session: Session | undefined = createSession(writer)
  const close = () => {
    session = undefined
    state?.close()
    writer?.close()
    writer = undefined
  }
  const drive = async () => {
    if (rpc) await rpc.start(signal)
    for (;;) {
      try {
        if (!writer) {
          writer = await whenUnlocked(() => openChainWriter(settings, parts), clock, signal)
          session = createSession(writer)
        }
        const { head } = writer.chain
        // What was imported is believed; block 0 alone is not finalized before the consensus client says so.
        const own = head.newest?.header.number || -1
        if (!head.isFinalityStored()) head.finalize({ safe: own, finalized: own })
        figures.begins(head.newest?.header.number)
        const unlisten = head.listen({ changed: (event) => figures.changed(event) })
        await session!.run().finally(unlisten)
        return
      } catch (error) {
        if (signal.aborted) return
        close() // first: who reads of the problem may open the database
        figures.stops('failed', describeStop(error, settings.datadir, figures.status().block))
        log.error({ error: messageOf(error) }, 'applying payloads stopped; it resumes when the cause is gone')
        await clock.sleep(RETRY_MS, signal)
      }
    }
  }
  const call = async (method: string, params: unknown): Promise<EngineReply> => {
    counts.begin(method)
    try {
      if (!session) throw new EngineRefusal('internal', 'the database is not open')
      const result = await session.call(method, params)
      counts.end(result)
      figures.reached()
      return { result }
    } catch (error) {
      if (error instanceof EngineRefusal) return { refused: { reason: error.reason, message: error.message } }
      session?.fail(error)
      return { refused: { reason: 'internal', message: 'the request failed; the log has the reason' } }
    }
  }
  return {
    call,
    run: async () => {
      try {
        await drive()
      } catch (error) {
        if (signal.aborted) return
        log.error({ error: messageOf(error) }, 'applying payloads ended')
        throw error
      }
    },
    status: () => ({
      ...figures.status(counts.silence()),
      upstreams: rpc?.status() ?? [],
      stateFetches: state?.status(),
      engine: { ...counts.read(), payloads: session?.tree.size ?? 0, payloadBytes: session?.tree.sizeBytes ?? 0 },
    }),
    fetchState: async (wanted) => {
      if (!state) throw new UsageError('--upstream is missing: no state can be fetched')
      await session?.untilIdle()
      return state.fetch(wanted)
    },
    close: () => {
      rpc?.close()
      session?.end()
      close()
    },
  }
}

/** Opens a connection to the upstreams; undefined without any. @throws UsageError when the chain needs them */
async function openRpc(
  chain: WritableChain,
  settings: FollowSettings,
  parts: FollowerParts,
): Promise<EthRpc | undefined> {
  const { stateMode, sparse } = chain
  if (settings.upstreams.length === 0) {
    if (stateMode === 'execute') return undefined
    const why = sparse ? 'the state that is not known' : 'receipts, since blocks are not executed'
    throw new UsageError(`--engine with --state ${stateMode} needs --upstream for ${why}`)
  }
  return openChainRpc(chain, settings, parts)
}

interface SessionParts {
  readonly settings: FollowSettings
  readonly parts: FollowerParts
  readonly rpc: EthRpc | undefined
  /** Receives the number of a head that the consensus client named. */
  seen(blockNumber: number): void
}

/** One opening of the database. */
class Session {
  private readonly chain: WritableChain
  private readonly engine: EngineChain
  private readonly options: SessionParts
  private readonly gaps: GapFiller | undefined
  private failure: { error: unknown } | undefined
  private wake = () => {}
  private readonly idle: IdleWork
  private lastGapLogMs = Number.NEGATIVE_INFINITY

  constructor(chain: WritableChain, options: SessionParts) {
    const { rpc, parts, settings } = options
    const { log, signal, checkpoints } = parts
    this.chain = chain
    this.options = options
    this.engine = new EngineChain(chain, {
      log,
      onGap: (choice, missing) => (this.gaps ? this.gaps.fill(choice, missing) : this.logGap()),
      fetchReceipts: rpc && (({ block }) => rpc.getBlock(block.hash, signal, true)),
    })
    this.engine.onRelease(() => this.wake())
    const { rootInterval } = settings
    this.gaps = rpc && new GapFiller({ chain, engine: this.engine, rpc, checkpoints, rootInterval, log, signal })
    this.idle = new IdleWork(chain, checkpoints)
  }

  get tree() {
    return this.engine.tree
  }

  untilIdle(): Promise<void> {
    return this.engine.untilIdle()
  }

  async call(method: string, params: unknown): Promise<unknown> {
    const context = { chain: this.engine, reader: this.chain.reader, version: this.options.settings.version ?? '' }
    const result = await callEngine(context, method, params)
    const head = this.chain.head.newest?.header.number
    if (head !== undefined) this.options.seen(head)
    return result
  }

  /** Ends `run` with an error. */
  fail(error: unknown): void {
    this.failure ??= { error }
    this.wake()
  }

  /** Does idle work until the signal aborts. @throws the error of `fail` */
  async run(): Promise<void> {
    const { signal } = this.options.parts
    const stop = () => this.wake()
    signal.addEventListener('abort', stop, { once: true })
    const unlisten = this.chain.head.listen({ changed: () => this.idle.blocksStored() })
    try {
      while (!signal.aborted) {
        if (this.failure) throw this.failure.error
        if (this.engine.isBusy || !this.idle.isDue) {
          await new Promise<void>((resolve) => {
            this.wake = resolve
          })
        } else await this.idle.step()
      }
    } finally {
      signal.removeEventListener('abort', stop)
      unlisten()
      await this.gaps?.ended()
      await this.engine.exclusively(async () => this.engine.release())
    }
  }

  end(): void {
    this.engine.release()
  }

  private logGap(): void {
    const now = monotonicMs()
    if (now - this.lastGapLogMs < SILENT_MS) return
    this.lastGapLogMs = now
    this.options.parts.log.warn(
      { head: this.chain.head.newest?.header.number ?? null },
      'blocks before the fork choice are missing, and there is no --upstream to fetch them from',
    )
  }
}

/** Counts requests of the consensus client. */
function createCounts() {
  const sinceMs = monotonicMs()
  let lastMs: number | undefined
  const figures = { newPayloads: 0, forkchoices: 0, invalidPayloads: 0 }
  return {
    begin: (method: string) => {
      lastMs = monotonicMs()
      if (method.startsWith('engine_newPayload')) figures.newPayloads++
      if (method.startsWith('engine_forkchoiceUpdated')) figures.forkchoices++
    },
    end: (result: unknown) => {
      if ((result as { status?: unknown } | null)?.status === 'INVALID') figures.invalidPayloads++
    },
    read: (): Omit<EngineFigures, 'payloads' | 'payloadBytes'> => ({
      ...figures,
      lastRequestSeconds: lastMs === undefined ? null : Math.floor((monotonicMs() - lastMs) / 1000),
    }),
    /** Why following is stuck, when the consensus client is silent. */
    silence: () => {
      const ms = monotonicMs() - (lastMs ?? sinceMs)
      if (ms < SILENT_MS) return undefined
      const reason = `the consensus client has sent nothing for ${Math.floor(ms / 1000)} s`
      return { stopped: { block: null, check: 'consensus client', reason }, ms }
    },
  }
}
