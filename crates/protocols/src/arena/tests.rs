mod rhetoric;
mod trickster;
