import { CairnError, UsageError } from '../lib/errors.js'

/** Blocks were replaced while they were read. */
export class ChainChanged extends CairnError {
  constructor() {
    super('blocks were replaced while they were exported; run the same command again')
  }
}

/** The destination contains something that this export must not add to or replace. */
export class OtherExport extends UsageError {}

/** Another process exports to the destination. */
export class ExportLocked extends CairnError {
  constructor(place: string, options?: ErrorOptions) {
    super(`another cairn export writes to ${place}; wait for it to end, or use another --out`, options)
  }
}
