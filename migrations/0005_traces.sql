CREATE TABLE `traces` (
	`block_number` integer PRIMARY KEY NOT NULL,
	`data` blob NOT NULL
);
