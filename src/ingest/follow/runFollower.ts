import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { logCrypto } from '../../chain/crypto.js'
import type { EvmKind } from '../../evm/kinds.js'
import { messageOf, UsageError } from '../../lib/errors.js'
import type { Logger } from '../../lib/logger.js'
import type { Progress } from '../../lib/progress.js'
import type { ChainSource } from '../../store/chain/chainSource.js'
import { DATABASE_FILE } from '../../store/open.js'
import { openForWriting } from '../../store/openForWriting.js'
import { truncateWriteAheadLog } from '../../store/writeAheadLog.js'
import { ChainNotNamed, openWritableChain, type StateMode, type WritableChain } from '../chainState.js'
import type { Checkpoints } from '../checkpoints.js'
import { ReorgBelowFinalized } from '../head/errors.js'
import { parseUpstreamAddress } from '../sources/ethRpc/describeUrl.js'
import { openEthRpc } from '../sources/ethRpc/ethRpc.js'
import type { EthRpc, UpstreamAddress } from '../sources/ethRpc/types.js'
import { NoCommonBlock } from './errors.js'
import { createFollower, type Follower } from './follower.js'
import type { FollowState, FollowStatus } from './status.js'

/** What to follow, and into which database. Everything but log, checkpoints and progress can be sent to a thread. */
export interface FollowSettings {
  readonly datadir: string
  /** At least one. */
  readonly upstreams: readonly UpstreamAddress[]
  /** Which chain it is; needed for a new database only. */
  readonly chain?: ChainSource
  readonly stateMode?: StateMode
  /** First block to store in a new database without state. */
  readonly from?: number
  readonly evm?: EvmKind
  /** Memory for the newest state and its trie; undefined: 256 MiB. */
  readonly stateCacheBytes?: number
  /** Blocks from one check of the state root to the next while far behind; 0 or undefined: as many as fits the state. */
  readonly rootInterval?: number
  /** Address (20 bytes) of the Starknet core contract; undefined: that of before, or of the known networks. */
  readonly coreContract?: Uint8Array
}

interface FollowerParts {
  readonly log: Logger
  readonly signal: AbortSignal
  readonly checkpoints: Checkpoints
  /** Shows what opening an older database has to bring up to date. */
  startProgress?(label: string, unit: string, total: number): Progress
}

/** A database that is open for writing, and the upstreams that it is to follow. */
export interface OpenFollower {
  /** Follows until the signal aborts. @throws what `Follower.run` throws, and WrongChain before anything is stored */
  run(): Promise<void>
  status(): FollowStatus
  /** Closes connections and database. */
  close(): void
}

/** Opens the database of `settings.datadir`, which is made when it is not there. Asks no upstream yet.
 *  @throws UsageError for an address that cannot be used, and as `openWritableChain`; DatabaseLocked */
export async function openFollower(settings: FollowSettings, parts: FollowerParts): Promise<OpenFollower> {
  const { datadir, upstreams, chain: source, stateMode, rootInterval, stateCacheBytes, evm, coreContract } = settings
  const { log, signal, checkpoints, startProgress } = parts
  for (const address of upstreams) parseUpstreamAddress(address)
  if (source === undefined && !existsSync(join(datadir, DATABASE_FILE))) throw new ChainNotNamed() // before one is made
  const db = openForWriting(datadir)
  let rpc: EthRpc | undefined
  const close = () => {
    rpc?.close()
    truncateWriteAheadLog(db)
    db.close()
  }
  try {
    logCrypto(log)
    db.pragma('wal_autocheckpoint = 0')
    const opening = { startProgress, signal, checkpoints, stateCacheBytes, evm, coreContract, log }
    const chain = await openWritableChain(db, source, stateMode, opening)
    const from = requireFrom(chain, settings.from)
    const genesisHash = chain.reader.blockHash(0) ?? (await chain.genesisBlock()).hash
    const { chainId } = chain.spec
    rpc = openEthRpc({ upstreams, chainId, genesisHash, withReceipts: chain.stateMode === 'none', log })
    return {
      ...supervise(createFollower(chain, rpc, { signal, log, from, checkpoints, rootInterval }), rpc, parts),
      close,
    }
  } catch (error) {
    close()
    throw error
  }
}

/** @throws UsageError when the database cannot begin at that block */
function requireFrom({ reader, stateMode }: WritableChain, from: number | undefined): number | undefined {
  if (from === undefined || from === 0) return from
  if (stateMode === 'execute') {
    throw new UsageError(
      `--from ${from} needs --state none: the state of block ${from - 1} is not there to execute upon`,
    )
  }
  const coverage = reader.coverage()
  if (coverage === undefined || coverage.first === from) return from
  throw new UsageError(
    `--from ${from}: the database holds blocks ${coverage.first} to ${coverage.head} already, and goes on after them; leave ` +
      '--from out',
  )
}

/** A follower with its state, whatever becomes of it. */
function supervise(
  { run, figures }: Follower,
  rpc: EthRpc,
  { log, signal }: FollowerParts,
): Pick<OpenFollower, 'run' | 'status'> {
  let ended: { state: FollowState; problem: string } | undefined
  return {
    run: async () => {
      try {
        await rpc.start(signal)
        await run()
      } catch (error) {
        if (signal.aborted) return
        const isAlarm = error instanceof ReorgBelowFinalized || error instanceof NoCommonBlock
        ended = { state: isAlarm ? 'alarm' : 'failed', problem: messageOf(error) }
        log.error({ problem: ended.problem }, 'following ended')
        throw error
      }
    },
    status: () => ({ ...figures.status(), problem: null, ...ended, upstreams: rpc.status() }),
  }
}
