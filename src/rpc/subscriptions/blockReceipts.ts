import { equalBytes } from '../../lib/bytes.js'
import { createChainReader } from '../../store/chain/chainReader.js'
import type { ChainReader, StoredBlock } from '../../store/chain/types.js'
import type { Database } from '../../store/database.js'
import type { ReceiptCriteria } from '../core/session.js'
import { formatReceipt } from '../eth/format/receipt.js'

/** Reads the receipts of new blocks, as JSON. */
export class BlockReceipts {
  private readonly db: Database
  private reader: ChainReader | undefined

  constructor(db: Database) {
    this.db = db
  }

  /** The receipts of a block; undefined if the chain has it no more. */
  read(block: StoredBlock): ReceiptTexts | undefined {
    this.reader ??= createChainReader(this.db)
    const reader = this.reader
    return this.db.transaction(() => {
      const hash = reader.blockHash(block.header.number)
      if (hash === undefined || !equalBytes(hash, block.hash)) return undefined
      const transactions = reader.transactions(block)
      return new ReceiptTexts(
        reader.receipts(block).map((stored, i) => formatReceipt(stored, transactions[i], block, i)),
      )
    })()
  }
}

/** The receipts of a block: the array of all is written once for all listeners. */
class ReceiptTexts {
  private readonly receipts: readonly { readonly transactionHash: string }[]
  private all: Buffer | undefined

  constructor(receipts: readonly { readonly transactionHash: string }[]) {
    this.receipts = receipts
  }

  /** The wanted receipts as a JSON array, in order; undefined if there are none. */
  select({ hashes }: ReceiptCriteria): Buffer | undefined {
    if (hashes === undefined) {
      if (this.receipts.length === 0) return undefined
      this.all ??= Buffer.from(JSON.stringify(this.receipts))
      return this.all
    }
    const wanted = this.receipts.filter(({ transactionHash }) => hashes.has(transactionHash))
    return wanted.length === 0 ? undefined : Buffer.from(JSON.stringify(wanted))
  }
}
