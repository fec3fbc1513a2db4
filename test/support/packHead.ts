import { createChainReader } from '../../src/store/chain/chainReader.js'
import type { Database } from '../../src/store/database.js'
import { createBodyPacker } from '../../src/store/tip/packedBody.js'

/** Packs the newest block of a database whose blocks are all rows, as an import has it until the rows come. */
export function packHead(db: Database): void {
  const reader = createChainReader(db)
  const block = reader.blockByNumber(reader.head()!)!
  const { header, firstTx, firstLog } = block
  const receipts = reader.receipts(block).map(({ receipt }) => receipt)
  const whole = { ...block, transactions: reader.transactions(block), uncles: [] }
  const data = createBodyPacker()(whole, receipts, { tx: firstTx, log: firstLog })
  db.transaction(() => {
    db.prepare('DELETE FROM transactions WHERE id >= ?').run(firstTx)
    db.prepare('DELETE FROM receipts WHERE tx_id >= ?').run(firstTx)
    db.prepare('DELETE FROM logs WHERE id >= ?').run(firstLog)
    db.prepare('INSERT INTO packed_bodies (block_number, data) VALUES (?, ?)').run(header.number, data)
  })()
}
