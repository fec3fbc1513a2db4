import { TRANSFER_BATCH_TOPIC, TRANSFER_SINGLE_TOPIC, TRANSFER_TOPIC } from '../chain/eth/transferTopics.js'
import { readTokenTransfers } from '../decoding/tokenTransfers.js'
import type { EvmService } from '../evm/calls/evmService.js'
import { createLogSource } from '../index/logs/query.js'
import { equalBytes } from '../lib/bytes.js'
import { noDeadline } from '../lib/deadline.js'
import { hasStateAfter } from '../store/rows/coverage.js'
import type { ChainReader } from '../store/rows/types.js'
import type {
  HoldingCells,
  MetadataCells,
  PlacedTransferCells,
  TokenBalanceCells,
  TokenCells,
  TokenSql,
  TransferArguments,
} from '../store/sql/tokenViews.js'
import { TokenCalls } from '../tokens/tokenCalls.js'
import { createTokenReaders, type TokenBlocks, type TokenReaders } from '../tokens/tokenReaders.js'
import type { TransferPlace } from '../tokens/transferReader.js'
import type { LazyChainConnection } from './chainConnection.js'

const PAGE = 1_000
/** What calls token contracts. */
const CALLS = /token_(name|symbol|decimals|supply)|v_tokens/i

/** What SQL of tokens reads through `connection`. The process of a query is killed at its time and memory limits, so
 *  reads have none. */
export class TokenQueries implements TokenSql {
  readonly topics = [TRANSFER_TOPIC, TRANSFER_SINGLE_TOPIC, TRANSFER_BATCH_TOPIC]
  readonly decode = readTokenTransfers
  readonly #connection: LazyChainConnection
  #readers: TokenReaders | undefined
  #evm: EvmService | undefined

  constructor(connection: LazyChainConnection) {
    this.#connection = connection
  }

  /** Loads the EVM for a statement that may call token contracts. Await it before the statement runs. */
  async loadFor(sql: string): Promise<void> {
    if (this.#evm !== undefined || !CALLS.test(sql)) return
    const { loadEvmService } = await import('../evm/calls/loadEvmService.js')
    const { db, watch, chain } = this.#connection.get()
    this.#evm = await loadEvmService(db, 'cairn', { watch, chain })
  }

  *transfers({ token, account, fromBlock, toBlock }: TransferArguments): Generator<PlacedTransferCells> {
    const { chain, readers } = this.#open()
    const coverage = chain.coverage()
    if (coverage === undefined) return
    const query = {
      token,
      account,
      fromBlock: Math.max(fromBlock ?? 0, coverage.first),
      toBlock: Math.min(toBlock ?? coverage.head, coverage.head),
    }
    const hash = chain.blockHash(query.toBlock)
    let from: TransferPlace | undefined
    do {
      const page = readers.transfers.page(query, { limit: PAGE, sliceEnds: noDeadline, from })
      const now = chain.blockHash(query.toBlock)
      if (hash === undefined || now === undefined || !equalBytes(now, hash)) {
        throw new Error('the chain was reorganised during the query; run it again')
      }
      for (const { position, ...transfer } of page.transfers) {
        yield { ...transfer, ...position, timestamp: position.blockTimestamp }
      }
      from = page.next
    } while (from !== undefined)
  }

  tokens(): Iterable<TokenCells> {
    const { chain, readers } = this.#open()
    const coverage = chain.coverage()
    if (coverage === undefined) return []
    return readers.transfers.tokens({ fromBlock: coverage.first, toBlock: coverage.head }, noDeadline)
  }

  holders(token: Uint8Array, block: number | undefined): Iterable<HoldingCells> {
    const { chain, readers } = this.#open()
    return readers.holders(token, blocksTo(chain, block), noDeadline).holdings
  }

  balances(account: Uint8Array, block: number | undefined): Iterable<TokenBalanceCells> {
    const { chain, readers } = this.#open()
    return readers.balances(account, blocksTo(chain, block), noDeadline)
  }

  metadata(block: number | undefined): MetadataCells {
    const { chain } = this.#connection.get()
    const blockNumber = requireBlock(chain, block)
    if (!hasStateAfter(chain.coverage(), blockNumber)) return NO_ANSWERS
    const calls = new TokenCalls(this.#evm!, { blockNumber, deadline: noDeadline, isAmongMany: true })
    return {
      name: (token) => calls.name(token),
      symbol: (token) => calls.symbol(token),
      decimals: (token) => calls.decimals(token),
      supply: (token) => calls.totalSupply(token),
    }
  }

  #open(): { chain: ChainReader; readers: TokenReaders } {
    const { db, watch, chain } = this.#connection.get()
    this.#readers ??= createTokenReaders(db, {
      watch,
      logs: createLogSource(db, watch),
      maxHoldings: Number.POSITIVE_INFINITY,
    })
    return { chain, readers: this.#readers }
  }
}

const NO_ANSWERS: MetadataCells = { name: () => null, symbol: () => null, decimals: () => null, supply: () => null }

function blocksTo(chain: ChainReader, block: number | undefined): TokenBlocks {
  const toBlock = requireBlock(chain, block)
  return { fromBlock: chain.coverage()!.first, toBlock, hash: chain.blockHash(toBlock)! }
}

/** The number of a stored block; the newest if undefined. @throws Error for another one */
function requireBlock(chain: ChainReader, block: number | undefined): number {
  const { first, head } = chain.coverage() ?? { first: 0, head: -1 }
  const number = block ?? head
  if (number < first || number > head) throw new Error(`block ${number} is not available`)
  return number
}
