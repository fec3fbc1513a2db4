import { CairnError } from '../lib/errors.js'

/** Another process makes a snapshot of the data directory. */
export class SnapshotRunning extends CairnError {
  constructor(datadir: string) {
    super(`another cairn snapshot create reads ${datadir}; wait for it to end`)
  }
}

/** The name exists: from an older snapshot, or from another process that was faster. */
export class SnapshotExists extends CairnError {
  constructor(place: string, name: string) {
    super(`${place} has a snapshot ${name} already; nothing was replaced`)
  }
}

/** No snapshot exists, or none with that name. */
export class SnapshotMissing extends CairnError {
  constructor(place: string, name?: string) {
    super(
      name === undefined ? `${place} has no snapshot` : `${place} has no snapshot ${name}; see 'cairn snapshot list'`,
    )
  }
}

/** A manifest or a part is invalid. */
export class SnapshotDamaged extends CairnError {
  constructor(object: string, problem: string, options?: ErrorOptions) {
    super(`${object}: ${problem}`, options)
  }
}

/** A database without blocks. */
export class NothingToSnapshot extends CairnError {
  constructor(datadir: string) {
    super(`${datadir} holds no block; there is nothing to make a snapshot of`)
  }
}

/** The data directory has files that a restore would mix with its own. */
export class DatadirInUse extends CairnError {
  constructor(datadir: string, file: string) {
    super(`${datadir} is not empty: it has ${file}; restore into another --datadir`)
  }
}

/** The file system has less space than the database needs. */
export class NoSpace extends CairnError {
  constructor(directory: string, { needed, free }: { needed: number; free: number }) {
    const megabytes = (bytes: number) => Math.ceil(bytes / 1e6).toLocaleString('en')
    super(`${directory} has ${megabytes(free)} MB free, the database needs ${megabytes(needed)} MB`)
  }
}
