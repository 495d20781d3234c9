"""What the results become: tables, charts and the page, and the machine they were measured on."""
