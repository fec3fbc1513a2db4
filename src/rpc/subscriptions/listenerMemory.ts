import type { SubscriptionLimits } from './limits.js'

/** Memory of a subscription or filter, besides its criteria. */
export const LISTENER_BYTES = 1_000

/** The owner that an amount counts for: a key, else an address. */
type Owner = number | string

/** Memory of the filters and subscriptions of all clients, in bytes: a bound in number alone would allow each criteria
 *  of 1.5 MB. */
export class ListenerMemory {
  private readonly limits: Pick<SubscriptionLimits, 'filterBytes' | 'totalFilterBytes'>
  private readonly bytesByOwner = new Map<Owner, number>()
  private totalBytes = 0

  constructor(limits: Pick<SubscriptionLimits, 'filterBytes' | 'totalFilterBytes'>) {
    this.limits = limits
  }

  /** Adds `change` bytes, which may be negative. Returns false when the owner, or all together, exceed the limit; the
   *  caller then releases what it has added. */
  resize(owner: Owner, change: number): boolean {
    const bytes = (this.bytesByOwner.get(owner) ?? 0) + change
    if (bytes === 0) this.bytesByOwner.delete(owner)
    else this.bytesByOwner.set(owner, bytes)
    this.totalBytes += change
    return bytes <= this.limits.filterBytes && this.totalBytes <= this.limits.totalFilterBytes
  }

  /** Memory of all clients. */
  sizeBytes(): number {
    return this.totalBytes
  }
}
