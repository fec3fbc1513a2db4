import { keccak256 } from '../chain/crypto.js'
import { EMPTY_CODE_HASH } from '../chain/eth/emptyHashes.js'
import { equalBytes, padLeft } from '../lib/bytes.js'
import { CairnError } from '../lib/errors.js'
import { formatData } from '../lib/hex.js'
import { openForReading } from '../store/open.js'
import { createChainReader } from '../store/rows/chainReader.js'
import { createStateReader } from '../store/state/stateReader.js'
import { createTouchedAbove, type RestoredAccount } from '../store/state/touchedAbove.js'
import type { StateFetcher } from './stateFetcher.js'

/** The node's state differs from the result of its transactions. */
export class StateSetOutside extends CairnError {
  constructor({ place, executed, found }: { place: string; executed: unknown; found: unknown }) {
    super(
      `${place}: executing the blocks gives ${executed}, the node has ${found}: it was set outside of transactions (as ` +
        'anvil_setBalance and hardhat_setStorageAt do); record from a block after that',
    )
  }
}

const BATCH = 256

/** Compares the accounts and slots that the imported blocks above `start` changed with those of the node after the last
 *  of them.
 *  @throws StateSetOutside for the first difference; UpstreamError */
export async function requireSameHead(datadir: string, fetcher: StateFetcher, start: number): Promise<void> {
  const db = openForReading(datadir)
  try {
    const head = createChainReader(db).head()!
    const touched = createTouchedAbove(db, createStateReader(db))
    const changed = touched.take({ above: start, upTo: head }).map((each) => touched.restored(each))
    for (let at = 0; at < changed.length; at += BATCH) await compare(changed.slice(at, at + BATCH), fetcher)
  } finally {
    db.close()
  }
}

async function compare(accounts: readonly RestoredAccount[], fetcher: StateFetcher): Promise<void> {
  const found = await fetcher.accounts(accounts.map(({ address }) => address))
  for (const [i, { address, account }] of accounts.entries()) {
    const { nonce = 0n, balance = 0n, codeHash = EMPTY_CODE_HASH } = account ?? {}
    const name = formatData(address)
    const { code } = found[i]
    const foundHash = code.length === 0 ? EMPTY_CODE_HASH : keccak256(code)
    if (found[i].balance !== balance) throw differ(`balance of ${name}`, balance, found[i].balance)
    if (found[i].nonce !== nonce) throw differ(`nonce of ${name}`, nonce, found[i].nonce)
    if (!equalBytes(foundHash, codeHash)) {
      throw differ(`code of ${name}`, `the hash ${formatData(codeHash)}`, formatData(foundHash))
    }
  }
  const slots = accounts.flatMap(({ address, slots }) =>
    slots.map(({ slot, value }) => ({ address, slot: padLeft(slot, 32), value })),
  )
  const values = await fetcher.slots(slots)
  for (const [i, { address, slot, value }] of slots.entries()) {
    if (equalBytes(values[i], value)) continue
    throw differ(`slot ${formatData(slot)} of ${formatData(address)}`, show(value), show(values[i]))
  }
}

function differ(place: string, executed: unknown, found: unknown): StateSetOutside {
  return new StateSetOutside({ place, executed, found })
}

function show(value: Uint8Array): string {
  return value.length === 0 ? '0' : formatData(value)
}
