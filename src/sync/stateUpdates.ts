import { isDeepStrictEqual } from 'node:util'
import type { Block, Log, Receipt } from '../chain/eth/types.js'
import { formatFelt } from '../chain/starknet/felt.js'
import { getL2Network } from '../chain/starknet/networks.js'
import {
  coreContractsOn,
  decodeStateUpdate,
  LOG_STATE_UPDATE,
  networkOfCoreContract,
  type StateUpdate,
} from '../chain/starknet/stateUpdate.js'
import { createLogSource } from '../index/logs/query.js'
import { bytesToBigInt, equalBytes } from '../lib/bytes.js'
import { noDeadline } from '../lib/deadline.js'
import { formatData } from '../lib/hex.js'
import type { Logger } from '../lib/logger.js'
import type { Database } from '../store/database.js'
import { createL2Finality, type L2Mismatch, type StoredStateUpdate } from '../store/l2/l2Finality.js'
import { createMetaTable, META_L2_CHAIN_ID, META_L2_CORE_CONTRACT, META_L2_UPDATES_OF } from '../store/meta.js'
import type { LogPlace } from '../store/rows/blockOfLog.js'
import { createChainReader } from '../store/rows/chainReader.js'

/** Keeps the state updates of layer 2 that the stored layer-1 blocks log; the layer-2 blocks that they name are
 *  accepted on layer 1 with the layer-1 block, in the same transaction. */
export interface StateUpdateAppender {
  /** Call it in the transaction that stores a layer-1 block. */
  add(block: Pick<Block, 'header'>, receipts: readonly Pick<Receipt, 'logs'>[]): void
  /** Call it in the transaction that removes the layer-1 blocks above `l1Block`. */
  removeAbove(l1Block: number): void
  /** Reads the state updates of all stored blocks again, in one transaction, when the contracts have changed. Call it
   *  once the log index is complete. */
  catchUp(): void
}

/** Sets the core contract (20 bytes) of a database, in place of those of known networks, from the next opening of its
 *  chain on. */
export function nameCoreContract(db: Database, address: Uint8Array): void {
  const meta = createMetaTable(db)
  const named = formatData(address)
  if (named !== meta.get<string>(META_L2_CORE_CONTRACT)) meta.set(META_L2_CORE_CONTRACT, named)
}

/** Opens the state updates of a database opened for writing; undefined when no core contract is on its chain. */
export function openStateUpdates(
  db: Database,
  { l1ChainId, log }: { l1ChainId: bigint; log: Logger },
): StateUpdateAppender | undefined {
  const meta = createMetaTable(db)
  const contracts = readCoreContracts(db, l1ChainId)
  if (contracts.length === 0) return undefined
  const finality = createL2Finality(db, { onMismatch: reportMismatch(db, log) })
  const collect = db.transaction((addresses: readonly string[]) => {
    finality.removeUpdatesAbove(-1)
    for (const update of readStateUpdates(db, contracts)) finality.addUpdate(update)
    finality.advance()
    meta.set(META_L2_UPDATES_OF, addresses)
  })
  return {
    add: ({ header }, receipts) => {
      let logIndex = 0
      let isAdded = false
      for (const { logs } of receipts) {
        for (const each of logs) {
          const update = updateOf(each, contracts)
          if (update) {
            finality.addUpdate({ ...update, l1Block: header.number, logIndex, contract: each.address })
            isAdded = true
          }
          logIndex++
        }
      }
      if (isAdded) finality.advance()
    },
    removeAbove: finality.removeUpdatesAbove,
    catchUp: () => {
      const addresses = contracts.map(formatData)
      if (!isDeepStrictEqual(meta.get<string[]>(META_L2_UPDATES_OF), addresses)) collect.immediate(addresses)
    },
  }
}

/** Returns the addresses of the core contracts whose logs count in a database: the one that the operator named, else
 *  those of the known networks on that chain. */
export function readCoreContracts(db: Database, l1ChainId: bigint): readonly Uint8Array[] {
  const named = createMetaTable(db).get<string>(META_L2_CORE_CONTRACT)
  return named === undefined ? coreContractsOn(l1ChainId) : [bytesOf(named)]
}

const PAGE_LOGS = 1_000

/** Yields all state updates that the contracts logged in the stored blocks, found by the log index, in order. */
export function* readStateUpdates(db: Database, addresses: readonly Uint8Array[]): Generator<StoredStateUpdate> {
  const coverage = createChainReader(db).coverage()
  if (coverage === undefined) return
  const topics = [[LOG_STATE_UPDATE]]
  const filter = { fromBlock: coverage.first, toBlock: coverage.head, addresses: [...addresses], topics }
  const source = createLogSource(db)
  let from: LogPlace | undefined
  do {
    const page = source.page(filter, { from, maxResults: PAGE_LOGS, sliceEnds: noDeadline })
    for (const found of JSON.parse(`[${page.logs.text}]`) as LogJson[]) {
      const contract = bytesOf(found.address)
      const update = decodeStateUpdate({ topics: found.topics.map(bytesOf), data: bytesOf(found.data) })
      if (!update) continue
      yield { ...update, l1Block: Number(found.blockNumber), logIndex: Number(found.logIndex), contract }
    }
    from = page.next
  } while (from !== undefined)
}

interface LogJson {
  address: string
  topics: string[]
  data: string
  blockNumber: string
  logIndex: string
}

/** Writes an error to the log for a layer-2 block that layer 1 accepted with another hash than the stored one. State
 *  updates of a known network are compared only with blocks of that network: a chain may have several core
 *  contracts. */
export function reportMismatch(db: Database, log: Logger): (mismatch: L2Mismatch) => void {
  const meta = createMetaTable(db)
  return ({ update, canonicalHash }) => {
    const network = networkOfCoreContract(update.contract)
    if (network !== undefined && getL2Network(network).chainId !== meta.get<string>(META_L2_CHAIN_ID)) return
    const { number: block, l1Block } = update
    const [accepted, stored] = [formatFelt(bytesToBigInt(update.hash)), formatFelt(canonicalHash)]
    const fields = { block, accepted, stored, l1Block, contract: formatData(update.contract) }
    log.error(fields, 'layer 1 accepted another layer-2 block than the stored one, which is not promoted')
  }
}

function updateOf(log: Log, contracts: readonly Uint8Array[]): StateUpdate | undefined {
  const update = decodeStateUpdate(log)
  return update && contracts.some((address) => equalBytes(address, log.address)) ? update : undefined
}

function bytesOf(data: string): Uint8Array {
  return Buffer.from(data.slice(2), 'hex')
}
