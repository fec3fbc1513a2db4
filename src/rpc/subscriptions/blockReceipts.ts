import { equalBytes, joinBytes } from '../../lib/bytes.js'
import type { Database } from '../../store/database.js'
import { createChainReader } from '../../store/rows/chainReader.js'
import type { ChainReader, StoredBlock } from '../../store/rows/types.js'
import type { ReceiptCriteria } from '../core/session.js'
import { createReceiptFormat } from '../eth/format/receipt.js'

/** Reads the receipts of new blocks, as JSON. */
export class BlockReceipts {
  private readonly db: Database
  private reader: ChainReader | undefined

  constructor(db: Database) {
    this.db = db
  }

  /** Reads the receipts of a block one by one, and calls `wait` before each to yield to other work. Returns undefined
   *  if the block is no longer canonical. */
  async read(block: StoredBlock, wait: () => Promise<void> | undefined): Promise<ReceiptTexts | undefined> {
    const receipts: ReceiptText[] = []
    for (let index = 0; index < block.txCount; index++) {
      const turn = wait()
      if (turn !== undefined) await turn
      const receipt = this.readOne(block, index)
      if (receipt === undefined) return undefined
      receipts.push(receipt)
    }
    return new ReceiptTexts(receipts)
  }

  private readOne(block: StoredBlock, index: number): ReceiptText | undefined {
    this.reader ??= createChainReader(this.db)
    const reader = this.reader
    return this.db.transaction(() => {
      const hash = reader.blockHash(block.header.number)
      if (hash === undefined || !equalBytes(hash, block.hash)) return undefined
      const format = createReceiptFormat(reader, block)
      const receipt = format(reader.receipt(block, index)!, reader.transaction(block, index)!, index)
      return { transactionHash: receipt.transactionHash, json: Buffer.from(JSON.stringify(receipt), 'latin1') }
    })()
  }
}

interface ReceiptText {
  /** 0x and 64 lower-case hex digits. */
  readonly transactionHash: string
  readonly json: Buffer
}

const COMMA = Buffer.from(',')

/** The receipts of a block: the array of all is built once for all listeners. */
class ReceiptTexts {
  private readonly receipts: readonly ReceiptText[]
  private all: Buffer | undefined

  constructor(receipts: readonly ReceiptText[]) {
    this.receipts = receipts
  }

  /** Selects the wanted receipts as a JSON array, in order; undefined if there are none. */
  select({ hashes }: ReceiptCriteria): Buffer | undefined {
    if (hashes === undefined) {
      if (this.receipts.length > 0) this.all ??= jsonArray(this.receipts)
      return this.all
    }
    const wanted = this.receipts.filter(({ transactionHash }) => hashes.has(transactionHash))
    return wanted.length === 0 ? undefined : jsonArray(wanted)
  }
}

function jsonArray(receipts: readonly ReceiptText[]): Buffer {
  const elements = joinBytes(
    receipts.map(({ json }) => json),
    COMMA,
  )
  return Buffer.concat([Buffer.from('['), elements, Buffer.from(']')])
}
