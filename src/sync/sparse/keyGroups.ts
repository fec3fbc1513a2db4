import type { StateKeys } from '../../trie/missingNodes.js'

// Accounts and slots of one request to the upstream: a batch sends one at a time, so that following, which has at least
// four requests in flight, is never without one.
const MAX_KEYS = 1_024
const MAX_ACCOUNTS = 32

/** Yields keys in groups of at most 32 accounts and 1,024 accounts and slots; an account whose slots are more is in
 *  several. */
export function* groupKeys(keys: Iterable<StateKeys>): Generator<StateKeys[]> {
  let group: StateKeys[] = []
  let left = MAX_KEYS
  for (const { address, slots } of keys) {
    for (let from = 0; from === 0 || from < slots.length; from += MAX_KEYS - 1) {
      const part = { address, slots: slots.slice(from, from + MAX_KEYS - 1) }
      if (group.length === MAX_ACCOUNTS || 1 + part.slots.length > left) {
        if (group.length > 0) yield group
        group = []
        left = MAX_KEYS
      }
      group.push(part)
      left -= 1 + part.slots.length
    }
  }
  if (group.length > 0) yield group
}
