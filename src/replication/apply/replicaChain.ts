import { logCrypto } from '../../chain/crypto.js'
import type { Logger } from '../../lib/logger.js'
import type { Progress } from '../../lib/progress.js'
import { systemClock } from '../../sources/upstreams/clock.js'
import type { Checkpoints } from '../../store/checkpoints.js'
import { DatabaseLocked, openForReading } from '../../store/open.js'
import { createChainReader } from '../../store/rows/chainReader.js'
import { type ChainSource, genesisOfSource, readChainSource } from '../../store/rows/chainSource.js'
import { openWritableChain, type StateMode, type WritableChain } from '../../sync/chainState.js'
import { type OpenWriter, openWriter, whenUnlocked } from '../../sync/openWriter.js'

/** The database that a replica writes. Can be sent to a thread. */
export interface ReplicaSettings {
  readonly datadir: string
  /** The chain; required for a new database only. */
  readonly chain?: ChainSource
  readonly stateMode?: StateMode
  /** Store the access lists that come with blocks (EIP-7928). Default: true. */
  readonly blockAccessLists?: boolean
  /** Keep the address index. Default: true. */
  readonly addressIndex?: boolean
  /** A new database begins with the trace index, for a writer that is a replica at first. A replica adds nothing to
   *  it. */
  readonly traces?: boolean
  /** Memory for the state trie; undefined: 256 MiB. */
  readonly stateCacheBytes?: number
  /** Max blocks that the state trie is behind the head while catching up. Default: 1,024. */
  readonly trieInterval?: number
  /** The role in its status. Default: 'replica'. A standby may have been the writer: it removes its own unpublished
   *  blocks, finalized ones too. */
  readonly role?: 'replica' | 'standby'
  /** The source has an end, and so has `run`. Default: false. */
  readonly untilEnd?: boolean
}

/** Describes to a source which chain it must serve. */
export interface ReplicaChain {
  readonly chainId: bigint
  readonly genesisHash: Uint8Array // 32
  /** How the replica keeps state. */
  readonly stateMode?: StateMode
}

interface OpeningParts {
  readonly log: Logger
  readonly signal: AbortSignal
  readonly checkpoints?: Checkpoints
  startProgress?(label: string, unit: string, total: number): Progress
}

/** Describes an open chain to sources. */
export async function describeChain(chain: WritableChain): Promise<ReplicaChain> {
  return {
    chainId: chain.spec.chainId,
    genesisHash: chain.reader.blockHash(0) ?? (await chain.genesisBlock()).hash,
    stateMode: chain.stateMode,
  }
}

/** Opens the database of a replica, creating it if missing. @throws as `openWriter` and `openWritableChain` */
export function openReplicaWriter(settings: ReplicaSettings, parts: OpeningParts): Promise<OpenWriter> {
  const { datadir, chain: wanted, stateMode, stateCacheBytes, blockAccessLists = true, addressIndex, traces } = settings
  const { log, signal, checkpoints, startProgress } = parts
  return openWriter({ datadir, isNamed: wanted !== undefined }, (db) => {
    logCrypto(log)
    if (checkpoints) db.pragma('wal_autocheckpoint = 0')
    const opening = { startProgress, signal, checkpoints, stateCacheBytes, blockAccessLists, addressIndex, traces, log }
    return openWritableChain(db, wanted, stateMode, { ...opening, lazyTrie: true, acceptsWrongRoots: true })
  })
}

/** Creates the database of a replica if missing, upgrades an older one, and closes it again. A database that another
 *  process writes must have a chain. @returns the chain
 *  @throws as `openReplicaWriter`; the reason of the signal */
export async function prepareReplica(settings: ReplicaSettings, parts: OpeningParts): Promise<ReplicaChain> {
  const open = async () => {
    const writer = await openReplicaWriter(settings, parts)
    try {
      return await describeChain(writer.chain)
    } finally {
      writer.close()
    }
  }
  try {
    return await open()
  } catch (error) {
    if (!(error instanceof DatabaseLocked)) throw error
    return readChain(settings.datadir) ?? whenUnlocked(open, systemClock, parts.signal)
  }
}

/** Reads the chain of a database; undefined when the genesis hash has to be computed. */
function readChain(datadir: string): ReplicaChain | undefined {
  const db = openForReading(datadir)
  try {
    const source = readChainSource(db)
    if (source === undefined) return undefined
    const reader = createChainReader(db)
    const genesisHash = reader.blockHash(0)
    return genesisHash && { chainId: genesisOfSource(source).spec.chainId, genesisHash }
  } finally {
    db.close()
  }
}
