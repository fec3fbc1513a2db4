/** Paths of the icons, on a grid of 16. */
const PATHS = {
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  done: 'M3 8.5l3.2 3.2L13 5',
  sun: 'M8 5a3 3 0 100 6 3 3 0 000-6zM8 1v1.5M8 13.500V15M1 8h1.500M13.500 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1',
  moon: 'M13 9.500A5.500 5.500 0 116.500 3a4.500 4.500 0 006.500 6.500z',
  auto: 'M8 2a6 6 0 100 12A6 6 0 008 2zM8 2v12',
  search: 'M7 2.500a4.500 4.500 0 100 9 4.500 4.500 0 000-9zM10.300 10.300L14 14',
  key: 'M10.500 2a3.500 3.500 0 00-3.300 4.700L2 12v2h2.500v-1.500H6V11h1.500l1.300-1.200A3.500 3.500 0 1010.500 2z',
}

/** An icon; decoration only. */
export function Icon({ name }: { name: keyof typeof PATHS }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}

/** The mark of Cairn: three stones. */
export function Mark() {
  return (
    <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
      <rect x="11" y="4" width="10" height="6" rx="3" />
      <rect x="7" y="12" width="18" height="7" rx="3.5" />
      <rect x="3" y="21" width="26" height="8" rx="4" />
    </svg>
  )
}
