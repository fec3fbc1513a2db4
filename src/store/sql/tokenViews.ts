import { padLeft } from '../../lib/bytes.js'
import { formatData } from '../../lib/hex.js'
import type { Database } from '../database.js'
import { addressOfValue } from './functionValues.js'
import { JOINED_LOGS, PLACE_OF_LOG } from './logSql.js'

/** A transfer as a row. */
export interface TransferCells {
  readonly kind: string
  readonly from: Uint8Array // 20
  readonly to: Uint8Array // 20
  /** Undefined for ERC-20. */
  readonly id: bigint | undefined
  readonly value: bigint
}

/** A transfer with its place in the chain. */
export interface PlacedTransferCells extends TransferCells {
  readonly blockNumber: number
  readonly timestamp: bigint
  readonly transactionIndex: number
  readonly transactionHash: Uint8Array // 32
  readonly logIndex: number
  readonly batchIndex: number
  readonly token: Uint8Array // 20
}

/** Which transfers `token_transfers` has; undefined: any, from the first block, to the newest. */
export interface TransferArguments {
  readonly token?: Uint8Array // 20
  readonly account?: Uint8Array // 20
  readonly fromBlock?: number
  readonly toBlock?: number
}

/** What an account has of a token, as a row. */
export interface BalanceCells {
  readonly kind: string
  /** Undefined for ERC-20, and for a number of ERC-721 tokens. */
  readonly id: bigint | undefined
  readonly balance: bigint
}

/** A holder as a row. */
export interface HoldingCells extends BalanceCells {
  readonly holder: Uint8Array // 20
}

/** A token of an account as a row. */
export interface TokenBalanceCells extends BalanceCells {
  readonly token: Uint8Array // 20
}

/** A contract with a transfer as a row. */
export interface TokenCells {
  readonly token: Uint8Array // 20
  readonly kind: string
  readonly firstBlock: number
  readonly transferCount: number
}

/** A contract's answers as cells; null if the call fails, and without state. */
export interface MetadataCells {
  name(token: Uint8Array): string | null
  symbol(token: Uint8Array): string | null
  decimals(token: Uint8Array): number | null
  supply(token: Uint8Array): bigint | null
}

/** What the views and functions of tokens read, over other connections: a connection runs no other statement during a
 *  query. */
export interface TokenSql {
  /** First topics of transfer logs, 32 bytes each. */
  readonly topics: readonly Uint8Array[]
  /** The transfers of a log, in the order of a batch. Topics are 32 bytes each. */
  decode(log: { topics: readonly (Uint8Array | null)[]; data: Uint8Array }): readonly TransferCells[]
  /** Transfers in chain order, found with the log search index. */
  transfers(wanted: TransferArguments): Iterable<PlacedTransferCells>
  /** Contracts with a transfer, in the order of their first ones. */
  tokens(): Iterable<TokenCells>
  /** Holders of a token after a block; undefined: the newest. */
  holders(token: Uint8Array, block: number | undefined): Iterable<HoldingCells>
  /** Tokens of an account after a block; undefined: the newest. */
  balances(account: Uint8Array, block: number | undefined): Iterable<TokenBalanceCells>
  /** Answers after a block; undefined: the newest. */
  metadata(block: number | undefined): MetadataCells
}

/** Adds to a connection the views `v_token_transfers` and `v_tokens`, the tables `token_transfers(of_token, of_account,
 *  from_block, to_block)`, `token_holders(of_token, at_block)` and `token_balances(of_account, at_block)`, and the
 *  functions `token_name`, `token_symbol`, `token_decimals` and `token_supply` of a contract, and of a block if there
 *  is a second argument. An argument of NULL gives NULL, or no rows. */
export function addTokenViews(db: Database, tokens: TokenSql): void {
  addLogTransfers(db, tokens)
  addTransfers(db, tokens)
  addTokens(db, tokens)
  addBalances(db, {
    name: 'token_holders',
    subject: 'token',
    column: 'holder',
    rows: (token, block) => tokens.holders(token, block),
    cell: ({ holder }) => holder,
  })
  addBalances(db, {
    name: 'token_balances',
    subject: 'account',
    column: 'token',
    rows: (account, block) => tokens.balances(account, block),
    cell: ({ token }) => token,
  })
  addMetadata(db, tokens)
  const topics = tokens.topics.map((topic) => `X'${formatData(topic).slice(2)}'`)
  db.exec(`CREATE TEMP VIEW v_token_transfers AS SELECT ${PLACE_OF_LOG}, x.batch_index AS batch_index,
    cairn_address(a.address) AS token, x.kind AS kind, x."from" AS "from", x."to" AS "to", x.id AS id, x.value AS value
    ${JOINED_LOGS} CROSS JOIN cairn_log_transfers x ON x.topic0 = z.topic AND x.topic1 = l.topic1
    AND x.topic2 = l.topic2 AND x.topic3 = ifnull(l.topic3, 0) AND x.data = l.data
    AND x.data_length = ifnull(l.data_length, 32)
    WHERE +l.topic0_id IN (SELECT id FROM topics WHERE topic IN (${topics.join(', ')}))`)
  db.exec(TOKENS)
}

const TOKENS = `CREATE TEMP VIEW v_tokens AS SELECT t.address AS address, t.kind AS kind, t.first_block AS first_block,
  t.transfer_count AS transfer_count, token_name(t.address) AS name, token_symbol(t.address) AS symbol,
  token_decimals(t.address) AS decimals, token_supply(t.address) AS total_supply FROM cairn_tokens t`

const TRANSFER_COLUMNS = ['kind', 'from', 'to', 'id', 'value']

function transferCells({ kind, from, to, id, value }: TransferCells): (string | null)[] {
  return [kind, formatData(from), formatData(to), id?.toString() ?? null, value.toString()]
}

/** A topic of a row has no leading zero bytes; 0: it is absent. */
function addLogTransfers(db: Database, tokens: TokenSql): void {
  db.table('cairn_log_transfers', {
    columns: ['batch_index', ...TRANSFER_COLUMNS],
    parameters: ['topic0', 'topic1', 'topic2', 'topic3', 'data', 'data_length'],
    *rows(...row: unknown[]) {
      const [data, length] = row.slice(4) as [Uint8Array, number]
      const topics = row.slice(0, 4).map((topic) => (topic instanceof Uint8Array ? padLeft(topic, 32) : null))
      const transfers = tokens.decode({ topics, data: padLeft(data, length) })
      for (const [i, transfer] of transfers.entries()) yield [BigInt(i), ...transferCells(transfer)]
    },
  })
}

function addTransfers(db: Database, tokens: TokenSql): void {
  const name = 'token_transfers'
  db.table(name, {
    columns: [
      ...['block_number', 'timestamp', 'transaction_index', 'transaction_hash', 'log_index', 'batch_index', 'token'],
      ...TRANSFER_COLUMNS,
    ],
    parameters: ['of_token', 'of_account', 'from_block', 'to_block'],
    *rows(...[token, account, fromBlock, toBlock]: unknown[]) {
      const wanted = {
        token: optionalAddress(name, token),
        account: optionalAddress(name, account),
        fromBlock: optionalBlock(name, fromBlock),
        toBlock: optionalBlock(name, toBlock),
      }
      for (const transfer of tokens.transfers(wanted)) {
        const { blockNumber, timestamp, transactionIndex, transactionHash, logIndex, batchIndex } = transfer
        yield [
          BigInt(blockNumber),
          timestamp,
          BigInt(transactionIndex),
          formatData(transactionHash),
          BigInt(logIndex),
          BigInt(batchIndex),
          formatData(transfer.token),
          ...transferCells(transfer),
        ]
      }
    },
  })
}

/** In JavaScript: grouping a row per transfer took four times as long. */
function addTokens(db: Database, tokens: TokenSql): void {
  db.table('cairn_tokens', {
    columns: ['address', 'kind', 'first_block', 'transfer_count'],
    *rows() {
      for (const { token, kind, firstBlock, transferCount } of tokens.tokens()) {
        yield [formatData(token), kind, BigInt(firstBlock), BigInt(transferCount)]
      }
    },
  })
}

/** A table of balances of a token, or of an account. */
interface BalanceTable<T> {
  readonly name: string
  /** What the first argument is. */
  readonly subject: string
  /** The first column, an address. */
  readonly column: string
  rows(subject: Uint8Array, block: number | undefined): Iterable<T>
  /** The address of the first column. */
  cell(row: T): Uint8Array
}

function addBalances<T extends BalanceCells>(
  db: Database,
  { name, subject, column, rows, cell }: BalanceTable<T>,
): void {
  db.table(name, {
    columns: [column, 'kind', 'id', 'balance'],
    parameters: [`of_${subject}`, 'at_block'],
    *rows(...[address, block]: unknown[]) {
      if (address === undefined)
        throw new Error(`${name}: expected the address of the ${subject}, as in ${name}('0x…')`)
      for (const row of rows(addressOfValue(name, address), optionalBlock(name, block))) {
        yield [formatData(cell(row)), row.kind, row.id?.toString() ?? null, row.balance.toString()]
      }
    },
  })
}

function addMetadata(db: Database, tokens: TokenSql): void {
  const add = (name: string, read: (cells: MetadataCells, token: Uint8Array) => string | number | bigint | null) =>
    db.function(name, { varargs: true, safeIntegers: true }, (token: unknown, block: unknown = undefined) => {
      if (token === null || block === null) return null
      return read(tokens.metadata(optionalBlock(name, block)), addressOfValue(name, token))
    })
  add('token_name', (cells, token) => cells.name(token))
  add('token_symbol', (cells, token) => cells.symbol(token))
  add('token_decimals', (cells, token) => toInteger(cells.decimals(token)))
  add('token_supply', (cells, token) => cells.supply(token)?.toString() ?? null)
}

function toInteger(value: number | null): bigint | null {
  return value === null ? null : BigInt(value)
}

/** An address; undefined for no argument and for empty text. */
function optionalAddress(name: string, value: unknown): Uint8Array | undefined {
  return value === undefined || value === '' ? undefined : addressOfValue(name, value)
}

/** A block number; undefined for no argument. */
function optionalBlock(name: string, value: unknown): number | undefined {
  if (value === undefined) return undefined
  const block = Number(value)
  if (typeof value === 'string' || !Number.isSafeInteger(block) || block < 0) {
    throw new Error(`${name}: expected a block number, got ${String(value).slice(0, 80)}`)
  }
  return block
}
