"""Methods and keywords by which torch asks, written so that it does not find them."""
