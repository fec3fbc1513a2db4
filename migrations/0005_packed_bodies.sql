CREATE TABLE `packed_bodies` (
	`block_number` integer PRIMARY KEY NOT NULL,
	`data` blob NOT NULL
);
