import { UsageError } from '../../lib/errors.js'
import { parseHex } from '../../lib/hex.js'
import type { Option } from './option.js'
import { choice, flag, maybeText, number, oneOf, parseAddress } from './rows.js'

// Copy of the formats in `export/encoders`, which `--help` need not load. The type of the command checks that they
// agree.
const FORMATS = ['parquet', 'csv', 'ndjson', 'ere'] as const

const TIMESTAMPS = ['integer', 'timestamp'] as const

/** Blocks [from, to], both inclusive; default: the first and the newest. */
export interface BlockBounds {
  readonly from?: number
  readonly to?: number
}

/** Options under the heading "Export". */
export const exportOptions = {
  out: maybeText(
    'out',
    'DIR|s3://BUCKET/PREFIX|FILE|-',
    ['export', 'record'],
    'export: where to write: a directory or a prefix on S3 for files by range with a manifest, a file that ends with .parquet, .csv or .ndjson, or - ' +
      'for standard output. record: the fixture directory to be made. Required.',
    'none',
  ),
  format: choice(
    'format',
    FORMATS,
    ['export'],
    'Format of the files. ere: whole blocks with receipts instead of DATASET, in files of 8,192 blocks that geth and others read.',
    'as the ending of FILE says, else parquet',
  ),
  hex: flag(
    'hex',
    ['export'],
    'Hashes, addresses and other binary columns as text, 0x and hex digits, in Parquet too.',
  ),
  timestamps: {
    flag: 'timestamps',
    placeholder: TIMESTAMPS.join('|'),
    default: 'integer' as (typeof TIMESTAMPS)[number],
    commands: ['export'],
    doc: 'Times as Unix seconds, or as timestamps in UTC, which are text in CSV and NDJSON.',
    parse: oneOf('timestamps', TIMESTAMPS),
  },
  blockRange: {
    flag: 'blocks',
    placeholder: 'A:B',
    default: undefined as BlockBounds | undefined,
    defaultText: 'all',
    doc: 'Blocks A to B, both inclusive. A: is from A on, :B up to B.',
    commands: ['export', 'record'],
    parse: parseBlocks,
  },
  addresses: {
    flag: 'address',
    placeholder: 'ADDRESS',
    default: [] as readonly Uint8Array[],
    defaultText: 'all',
    doc:
      'Only logs, token transfers, approvals and events of this contract, transactions and traces from or to it, and its appearances, balances, ' +
      'nonces, codes, slots and reads. Of the datasets of token contracts, the contracts; of erc20-balances the accounts. May be given more than once, or as a list with commas.',
    commands: ['export'],
    repeatable: true,
    parse: (text: string) => text.split(',').map((each) => parseAddress('address')(each.trim())!),
  },
  contracts: {
    flag: 'contract',
    placeholder: 'ADDRESS',
    default: [] as readonly Uint8Array[],
    defaultText: 'none',
    doc: 'Contracts that the datasets of token contracts and trace-calls call. May be repeated, or be a list with commas.',
    commands: ['export'],
    repeatable: true,
    parse: (text: string) => text.split(',').map((each) => parseAddress('contract')(each.trim())!),
  },
  callData: {
    flag: 'call-data',
    placeholder: 'HEX',
    default: [] as readonly Uint8Array[],
    defaultText: 'none',
    doc: 'Calldata of the dataset trace-calls. May be repeated, or be a list with commas.',
    commands: ['export'],
    repeatable: true,
    parse: (text: string) => text.split(',').map((each) => parseCallData(each.trim())),
  },
  events: {
    flag: 'event',
    placeholder: 'NAME|SIGNATURE',
    default: [] as readonly string[],
    defaultText: 'all that were logged',
    doc: 'Only these events of the dataset events: Transfer, Transfer(address,address,uint256) or erc20_transfer. May be repeated.',
    commands: ['export'],
    repeatable: true,
    parse: (text: string): readonly string[] => [text.replace(/\s/g, '')],
  },
  rangeSize: number('range-size', 'BLOCKS', 10_000, ['export'], {
    min: 1,
    max: 10_000_000,
    unit: 'blocks',
    doc: 'Blocks of a file in a directory. Files begin at multiples of it.',
  }),
  followExport: flag(
    'follow',
    ['export'],
    'Continue with each whole range of blocks once it is final, until SIGINT or SIGTERM.',
  ),
  verifyFiles: flag(
    'verify-files',
    ['export'],
    'Compare the digests of the files that are there, and not only their sizes, before they are kept.',
  ),
} as const satisfies { [key: string]: Option<unknown> }

/** @throws UsageError */
function parseCallData(text: string): Uint8Array {
  if (/^0x([0-9a-fA-F]{2})*$/.test(text)) return parseHex(text)
  throw new UsageError(`--call-data: expected bytes, 0x and an even number of hex digits, got ${JSON.stringify(text)}`)
}

/** @throws UsageError */
function parseBlocks(text: string): BlockBounds | undefined {
  const [, a, colon, b] = /^(\d{0,15})(:?)(\d{0,15})$/.exec(text) ?? []
  const [from, to] = [a, colon === '' ? a : b].map((digits) => (digits ? Number(digits) : undefined))
  if (colon === undefined || (from === undefined && to === undefined)) {
    throw new UsageError(`--blocks: expected A:B, A: or :B, got ${JSON.stringify(text)}`)
  }
  if (from !== undefined && to !== undefined && from > to) throw new UsageError(`--blocks: ${from} is above ${to}`)
  return { from, to }
}
