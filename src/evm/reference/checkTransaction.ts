import { Address } from '@ethereumjs/util'
import type { Rules } from '../../chain/eth/forks/rules.js'
import type { Header, Transaction } from '../../chain/eth/types.js'
import { type BlockGas, type BrokenRule, checkAgainst } from '../transition/checkTransaction.js'
import type { Overlay } from './overlay.js'

/** The first rule that the transaction breaks on the overlay's state, as in `checkAgainst`. */
export async function checkTransaction(
  overlay: Overlay,
  transaction: Transaction,
  { header, rules, used }: { header: Header; rules: Rules; used: BlockGas },
): Promise<BrokenRule | undefined> {
  const address = new Address(transaction.from)
  const account = await overlay.getAccount(address)
  const sender = {
    nonce: account?.nonce ?? 0n,
    balance: account?.balance ?? 0n,
    hasCode: account?.isContract() === true && !(await isDelegated(overlay, address, rules)),
  }
  return checkAgainst(sender, transaction, { header, rules, used })
}

/** EIP-7702: an account whose code is a delegation may send transactions. */
async function isDelegated(overlay: Overlay, address: Address, rules: Rules): Promise<boolean> {
  if (!rules.delegations) return false
  const code = await overlay.getCode(address)
  return code.length === 23 && code[0] === 0xef && code[1] === 0x01 && code[2] === 0x00
}
